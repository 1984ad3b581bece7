/**
 * `turnpike serve` with several processes: settings → supervisor. It opens no store. Part of the composition
 * root.
 */
import { availableParallelism, hostname } from 'node:os'
import { join } from 'node:path'
import { getHeapStatistics } from 'node:v8'
import { commandClock } from './base/clock.ts'
import { createLog } from './base/log.ts'
import { processEnvironment, type Environment } from './config.ts'
import { supervise } from './processes/supervisor.ts'
import type { Config } from './settings.ts'
import { shareHeap } from './shares.ts'
import { explainStart, ignoreOutputErrors } from './starting.ts'

/** `auto` is one process for each core; on SQLite it is one. */
export function countProcesses({ processes, store }: Config): number {
  if (processes !== 'auto') return processes
  return store.startsWith('sqlite:') ? 1 : availableParallelism()
}

/** Serves until a signal and resolves with the exit code. `args` are the words of this command line. */
export async function serveProcesses(
  config: Config,
  {
    args,
    logDescriptor = 1,
  }: { readonly args: readonly string[]; readonly logDescriptor?: number },
): Promise<number> {
  // Also for the processes, which share the output: what the last one of them restores is non-blocking.
  ignoreOutputErrors()
  const { logLevel: level, logFormat: format, listen, adminListen } = config
  const log = createLog({ level, format, descriptor: logDescriptor })
  const count = countProcesses(config)
  const environment = processEnvironment()
  try {
    return await supervise({
      launch: {
        command: findLauncher(environment),
        args,
        environment: withHeap(environment, count),
        count,
      },
      listen,
      adminListen,
      nodeName: config.nodeName ?? hostname(),
      clock: commandClock,
      log: log.logger,
    })
  } catch (error) {
    throw explainStart(error, config)
  } finally {
    await log.close()
  }
}

/** By the path of the call: where that is a link, it may lead to a newer version by the next start. */
function findLauncher(environment: Environment): string {
  return environment['TURNPIKE_LAUNCHER'] ?? join(import.meta.dirname, '..', 'bin', 'turnpike')
}

/** Of several values of an option the last one counts. */
function withHeap(environment: Environment, count: number): Environment {
  const heapBytes = shareHeap(count, getHeapStatistics().heap_size_limit)
  if (heapBytes === undefined) return environment
  const option = `--max-old-space-size=${Math.floor(heapBytes / 1_048_576)}`
  const given = environment['NODE_OPTIONS'] ?? ''
  return { ...environment, NODE_OPTIONS: `${given} ${option}`.trim() }
}

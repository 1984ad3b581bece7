/**
 * `turnpike serve` with several processes: settings → plan of the supervisor. Part of the composition root.
 */
import { availableParallelism, hostname } from 'node:os'
import { join } from 'node:path'
import { getHeapStatistics } from 'node:v8'
import { GatewayError } from '../base/errors.ts'
import { processEnvironment, type Environment } from '../settings/read.ts'
import { planVariable, writePlan } from '../processes/plan.ts'
import type { Config } from '../settings/list.ts'
import { shareHeap } from '../settings/shares.ts'

/** `auto` is one process for each core; on SQLite it is one. */
export function countProcesses({ processes, store }: Config): number {
  if (processes !== 'auto') return processes
  return store.startsWith('sqlite:') ? 1 : availableParallelism()
}

/** It makes little garbage: V8 would let the space for new objects grow to 32 MB. */
const smallHeap = '--max-semi-space-size=1'

/** Becomes the supervisor: the same process, with another program. */
export function becomeSupervisor(config: Config, logDescriptor: number): never {
  const { listen, adminListen, logLevel } = config
  const count = countProcesses(config)
  const nodeName = config.nodeName ?? hostname()
  const plan = { count, listen, adminListen, nodeName, logLevel, logDescriptor }
  const program = join(import.meta.dirname, '..', 'supervisor.ts')
  const { execPath, execArgv, argv } = process
  const options = [...execArgv, smallHeap]
  process.execve?.(execPath, [execPath, ...options, program, ...argv.slice(2)], {
    ...withHeap(processEnvironment(), count),
    [planVariable]: writePlan(plan),
  })
  throw new GatewayError('operations.conflict', 'This system cannot run several processes.')
}

/** Of several values of an option the last one counts. */
function withHeap(environment: Environment, count: number): Environment {
  const heapBytes = shareHeap(count, getHeapStatistics().heap_size_limit)
  if (heapBytes === undefined) return environment
  const option = `--max-old-space-size=${Math.floor(heapBytes / 1_048_576)}`
  const given = environment['NODE_OPTIONS'] ?? ''
  return { ...environment, NODE_OPTIONS: `${given} ${option}`.trim() }
}

/**
 * The program of the supervisor: plan → supervisor → exit code. It opens no store and loads nothing that
 * only a gateway needs. Part of the composition root.
 */
import { join } from 'node:path'
import { commandClock } from './base/clock.ts'
import { createLog } from './base/log.ts'
import { processEnvironment } from './settings/read.ts'
import { planVariable, readPlan } from './processes/plan.ts'
import { supervise } from './processes/supervisor.ts'
import { explainStart, ignoreOutputErrors } from './gateway/start-errors.ts'

async function run(): Promise<number> {
  // Also for the processes, which share the output: the last one of them leaves it non-blocking.
  ignoreOutputErrors()
  const { [planVariable]: text = '', ...environment } = processEnvironment()
  const { count, logLevel, logDescriptor, ...addresses } = readPlan(text)
  const log = createLog({ level: logLevel, descriptor: logDescriptor })
  // By the path of the call: where that is a link, it may lead to a newer version by the next start.
  const command =
    environment['TURNPIKE_LAUNCHER'] ?? join(import.meta.dirname, '..', 'bin', 'turnpike')
  try {
    return await supervise({
      ...addresses,
      launch: { command, args: process.argv.slice(2), environment, count },
      clock: commandClock,
      log: log.logger,
    })
  } catch (error) {
    throw explainStart(error, addresses)
  } finally {
    await log.close()
  }
}

try {
  process.exitCode = await run()
} catch (error) {
  const { reportError } = await import('./cli/command.ts')
  process.exit(reportError(error, process.argv.includes('--json')))
}

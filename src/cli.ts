/**
 * The program: reads words and options and hands them to the operations, which decide what a command
 * means. The admin API calls the same operations.
 */
import { CommanderError } from 'commander'
import { endWithOutput, exitCodes, reportError } from './cli/command.ts'
import { buildProgram } from './cli/program.ts'

const wantsJson = process.argv.includes('--json')

process.stdout.on('error', endWithOutput)

try {
  await buildProgram({ wantsJson }).parseAsync()
} catch (error) {
  const isHelp = error instanceof CommanderError && error.exitCode === 0
  // A failed start may have opened sockets and threads, which would keep the process running.
  process.exit(isHelp ? exitCodes.done : reportError(error, wantsJson))
}

/**
 * The program: reads words and options and hands them to the operations, which decide the meaning of a
 * command. The admin API calls the same operations.
 */
import { runProgram } from './cli/program.ts'

const exitCode = await runProgram(process.argv.slice(2))
if (exitCode !== undefined) process.exit(exitCode)

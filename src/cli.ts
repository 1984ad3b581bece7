/**
 * The program: the operator's commands and `serve`. It reads words and options and hands them to
 * the operations; what a command means is decided there, so that the admin API means the same.
 */
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { addAccountCommands } from './cli/account-commands.ts'
import { addBackupCommands } from './cli/backup-commands.ts'
import { addCatalogueCommands } from './cli/catalogue-commands.ts'
import { addChannelCommands } from './cli/channel-commands.ts'
import { addGatewayCommands } from './cli/gateway-commands.ts'
import { addKeyCommands } from './cli/key-commands.ts'
import { addStoreCommands } from './cli/store-commands.ts'
import { refuseRepeatedOptions } from './cli/single-options.ts'
import { endWithOutput, exitCodes, reportError } from './cli/shell.ts'

const wantsJson = process.argv.includes('--json')

function buildProgram(): Command {
  const program = new Command('turnpike')
    .description('A metered gateway in front of model vendors.')
    .version(readVersion())
    .option('--config <path>', 'settings file; turnpike.yaml here by default')
    .option('--json', 'one JSON document on standard output, nothing else')
    .exitOverride()
    .configureOutput({
      // Told once, by reportError, in the form that was asked for.
      outputError: () => undefined,
      writeErr: (text) => (wantsJson ? undefined : process.stderr.write(text)),
    })
    .showSuggestionAfterError()
  addGatewayCommands(program)
  addAccountCommands(program)
  addKeyCommands(program)
  addCatalogueCommands(program)
  addChannelCommands(program)
  addBackupCommands(program)
  addStoreCommands(program)
  refuseRepeatedOptions(program)
  return program
}

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return String((JSON.parse(text) as { readonly version?: unknown }).version)
}

process.stdout.on('error', endWithOutput)

try {
  await buildProgram().parseAsync()
} catch (error) {
  const isHelp = error instanceof CommanderError && error.exitCode === 0
  // What a start that failed half-way has opened already must not keep the process.
  process.exit(isHelp ? exitCodes.done : reportError(error, wantsJson))
}

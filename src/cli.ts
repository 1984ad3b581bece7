/**
 * The program: reads words and options and hands them to the operations, which decide what a command
 * means. The admin API calls the same operations.
 */
import { Command, CommanderError } from 'commander'
import { addAccountCommands } from './cli/account-commands.ts'
import { addAlertCommands } from './cli/alert-commands.ts'
import { addCatalogueCommands } from './cli/catalogue-commands.ts'
import { addChannelCommands } from './cli/channel-commands.ts'
import { addCompletionCommands } from './cli/completion/completion-commands.ts'
import { addContextCommands } from './cli/context-commands.ts'
import { endWithOutput, exitCodes, reportError } from './cli/command.ts'
import { formatBuild, thisBuild } from './base/build.ts'
import { formatJson } from './cli/output.ts'
import { addGatewayCommands } from './cli/gateway-commands.ts'
import { addInitCommand } from './cli/init/init-command.ts'
import { addKeyCommands } from './cli/key-commands.ts'
import { addReportCommand } from './cli/report-command.ts'
import { addRequestCommands } from './cli/request-commands.ts'
import { addDoctorCommand, addStoreCommands } from './cli/store-commands.ts'

const wantsJson = process.argv.includes('--json')

/** Options that may be repeated; their values add up. */
const repeatable: ReadonlySet<string> = new Set(['ip', 'map', 'metadata'])

function buildProgram(): Command {
  const program = new Command('turnpike')
    .description('A metered gateway in front of model vendors.')
    .option('-V, --version', 'print the version and the commit')
    .on('option:version', printVersion)
    .option('--config <path>', 'settings file (default: turnpike.yaml in this folder)')
    .option('--json', 'print one JSON document, for scripts')
    .option('--server <url>', 'work through the admin API at this address')
    .option('--context <name>', 'work through the server that was saved under this name')
    .option('--local', 'work on the store of this host, whatever is set up')
    .helpOption('-h, --help', 'show help; works after every command')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      // reportError prints each error once, as text or as JSON.
      outputError: () => undefined,
      writeErr: (text) => (wantsJson ? undefined : process.stderr.write(text)),
    })
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      `
Examples:
  turnpike init                                   write a catalogue and settings to begin with
  turnpike serve                                  run the gateway
  turnpike apply -f catalog.yaml                  set vendors, models, prices, channels
  turnpike account create acme --balance 25       create an account with 25 USD
  turnpike key create acme                        create a key for it
  turnpike doctor                                 find problems

From another machine: set TURNPIKE_SERVER and TURNPIKE_TOKEN, or save the server: turnpike context add.
Exit codes: 0 done, 1 failed, 2 wrong usage or settings.`,
    )
  program.commandsGroup('Gateway:')
  addGatewayCommands(program)
  addInitCommand(program)
  addDoctorCommand(program)
  program.commandsGroup('Catalogue and channels:')
  addCatalogueCommands(program)
  addChannelCommands(program)
  program.commandsGroup('Accounts and keys:')
  addAccountCommands(program)
  addKeyCommands(program)
  addReportCommand(program)
  addRequestCommands(program)
  program.commandsGroup('Alerts:')
  addAlertCommands(program)
  program.commandsGroup('Store:')
  addStoreCommands(program)
  program.commandsGroup('Servers:')
  addContextCommands(program)
  program.commandsGroup('Help:').helpCommand('help [command]', 'show help for a command')
  addCompletionCommands(program)
  refuseRepeatedOptions(program)
  return program
}

/** Refuses an option that is given twice: the second value would replace the first silently. */
function refuseRepeatedOptions(command: Command): void {
  for (const option of command.options) {
    const name = option.name()
    if (option.isBoolean() || option.variadic || repeatable.has(name)) continue
    let isGiven = false
    command.on(`option:${name}`, () => {
      if (isGiven) command.error(`error: option '${option.flags}' is given twice`)
      isGiven = true
    })
  }
  for (const inner of command.commands) refuseRepeatedOptions(inner)
}

function printVersion(): never {
  const build = thisBuild()
  process.stdout.write(wantsJson ? formatJson(build) : `turnpike ${formatBuild(build)}\n`)
  throw new CommanderError(exitCodes.done, 'commander.version', build.version)
}

process.stdout.on('error', endWithOutput)

try {
  await buildProgram().parseAsync()
} catch (error) {
  const isHelp = error instanceof CommanderError && error.exitCode === 0
  // A failed start may have opened sockets and threads, which would keep the process running.
  process.exit(isHelp ? exitCodes.done : reportError(error, wantsJson))
}

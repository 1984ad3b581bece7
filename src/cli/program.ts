/** The commands of the program: their words, options and help. What a command does is in its own file. */
import { Command, CommanderError } from 'commander'
import { formatBuild, thisBuild } from '../base/build.ts'
import { addAccountCommands } from './account-commands.ts'
import { addAlertCommands } from './alert-commands.ts'
import { addCatalogueCommands } from './catalogue-commands.ts'
import { addChannelCommands } from './channel-commands.ts'
import { addCompletionCommands } from './completion/completion-commands.ts'
import { addConsoleCommand } from './console-command.ts'
import { addContextCommands } from './context-commands.ts'
import { endWithOutput, exitCodes, reportError } from './command.ts'
import { addGatewayCommands } from './gateway-commands.ts'
import { addGatewayFactsCommands } from './gateway-facts-commands.ts'
import { addInitCommand } from './init/init-command.ts'
import { addKeyCommands } from './key-commands.ts'
import { formatJson } from './output.ts'
import { addReportCommand } from './report-command.ts'
import { addRequestCommands } from './request-commands.ts'
import { addDoctorCommand, addStoreCommands } from './store-commands.ts'

/** Options that may be repeated; their values add up. */
const repeatable: ReadonlySet<string> = new Set(['ip', 'map', 'metadata'])

/**
 * Runs a command line. Returns undefined where it came to its end: the process ends with `process.exitCode`
 * once nothing is open. Otherwise returns the code with which the process must end at once: a failed start
 * may have opened sockets and threads, which would keep it running.
 */
export async function runProgram(words: readonly string[]): Promise<number | undefined> {
  const wantsJson = words.includes('--json')
  process.stdout.on('error', endWithOutput)
  try {
    await buildProgram({ wantsJson }).parseAsync(words, { from: 'user' })
    return undefined
  } catch (error) {
    const isHelp = error instanceof CommanderError && error.exitCode === 0
    return isHelp ? exitCodes.done : reportError(error, wantsJson)
  }
}

/** `wantsJson`: an error is printed once, as JSON, by the caller. */
export function buildProgram({ wantsJson }: { readonly wantsJson: boolean }): Command {
  const program = new Command('turnpike')
    .description('A metered gateway in front of model vendors.')
    .option('-V, --version', 'print the version and the commit')
    .on('option:version', () => printVersion(wantsJson))
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
  addConsoleCommand(program)
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
  addGatewayFactsCommands(program)
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

function printVersion(wantsJson: boolean): never {
  const build = thisBuild()
  process.stdout.write(wantsJson ? formatJson(build) : `turnpike ${formatBuild(build)}\n`)
  throw new CommanderError(exitCodes.done, 'commander.version', build.version)
}

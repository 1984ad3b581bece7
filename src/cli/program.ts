/** The commands of the program: their words, options and help. The work of a command is in its own file. */
import { Command, CommanderError } from 'commander'
import { formatBuild, thisBuild } from '../base/build.ts'
import { endWithOutput, exitCodes, reportError } from './command.ts'
import { accountCommands } from './commands/accounts.ts'
import { alertCommands } from './commands/alerts.ts'
import { catalogueCommands } from './commands/catalogue.ts'
import { channelCommands } from './commands/channels.ts'
import { consoleCommand } from './commands/console.ts'
import { gatewayCommands } from './commands/gateway.ts'
import { keyCommands } from './commands/keys.ts'
import { codeCommands } from './commands/codes.ts'
import { memberCommands } from './commands/members.ts'
import { paymentCommands } from './commands/payments.ts'
import { noteCommands } from './commands/notes.ts'
import { reportCommand, requestCommands } from './commands/requests.ts'
import { doctorCommand, storeCommands } from './commands/store.ts'
import { verifyCommand } from './commands/verify.ts'
import { addCompletionCommands } from './completion/completion-commands.ts'
import { repeatable } from './field-words.ts'
import { initCommand } from './init/init-command.ts'
import { formatJson } from './output.ts'
import { addRows, type CommandRow } from './row.ts'

/** The commands by their heading in help. */
const sections: Readonly<Record<string, readonly CommandRow[]>> = {
  'Gateway:': [...gatewayCommands, initCommand, consoleCommand, doctorCommand],
  'Catalogue and channels:': [...catalogueCommands, ...channelCommands],
  'Accounts and keys:': [
    ...accountCommands,
    ...keyCommands,
    ...codeCommands,
    ...memberCommands,
    ...paymentCommands,
    ...noteCommands,
    reportCommand,
    ...requestCommands,
    verifyCommand,
  ],
  'Alerts:': alertCommands,
  'Store:': storeCommands,
}

/** What commands with a first word in common are for. */
const groups = {
  price: 'list prices, or import them from a public list',
  channel: 'show, check, enable and disable channels',
  cache: "see how much input came from vendors' prompt caches",
  account: 'manage accounts: balance, limits, statement',
  key: 'manage keys (cr_…) for model requests',
  token: 'manage read-only tokens (ro_…) for /v1/usage',
  'admin-token': 'manage admin tokens (ad_…) for the admin API and /metrics',
  code: 'make and revoke top-up codes',
  payment: 'compare payments with the payment service',
  note: 'keep notes about accounts, keys and channels',
  request: 'see what became of requests',
  alert: 'send alerts to webhooks, Slack-compatible channels and e-mail',
  'signing-key': 'list and rotate the keys that sign the books',
  store: 'move the store to another database',
}

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
    .option('--local', 'work on the store of this host, whatever is set up')
    .helpOption('-h, --help', 'show help; works after every command')
    .configureHelp({
      showGlobalOptions: true,
      // It says the choices and the default itself.
      optionDescription: ({ description }) => description,
    })
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

From another machine: set TURNPIKE_SERVER and TURNPIKE_TOKEN.
Exit codes: 0 done, 1 failed, 2 wrong usage or settings.`,
    )
  for (const [heading, rows] of Object.entries(sections)) {
    program.commandsGroup(heading)
    addRows(program, rows, groups)
  }
  program.commandsGroup('Help:').helpCommand('help [command]', 'show help for a command')
  addCompletionCommands(program)
  refuseRepeatedOptions(program)
  return program
}

/** Refuses an option that is given twice: the second value would replace the first silently. */
function refuseRepeatedOptions(command: Command): void {
  for (const option of command.options) {
    const name = option.name()
    if (option.isBoolean() || option.variadic || repeatable.has(option)) continue
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

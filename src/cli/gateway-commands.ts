/** `turnpike serve`, `migrate`, `sandbox`, `audit`, `actions`: the gateway and its state as a whole. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { recentActions, type ActionView } from '../operations/actions.ts'
import { auditLedger, type AuditView } from '../operations/audit.ts'
import type { Ready } from '../main.ts'
import { formatListenAddress, parseListenAddress, type ListenAddress } from '../settings.ts'
import { addDoctorCommand } from './doctor-command.ts'
import { onExistingStore } from './existing-store.ts'
import {
  answering,
  endWithOutput,
  exitCodes,
  openStore,
  readConfig,
  toJson,
  type Answer,
  type Given,
} from './shell.ts'
import { formatFields, formatTable } from './table.ts'

export function addGatewayCommands(program: Command): void {
  program
    .command('serve')
    .description('run the gateway until SIGTERM or Ctrl-C')
    .action(async (_options: unknown, command: Command) => {
      const { serve } = await import('../main.ts')
      process.stdout.off('error', endWithOutput)
      const options: Given['options'] = command.optsWithGlobals()
      process.exitCode = await serve(
        readConfig(options),
        options['json'] === true
          ? { onReady: announceAsJson, logDescriptor: 2 }
          : { onReady: announce },
      )
    })
  program
    .command('migrate')
    .description('bring the store to the schema of this program')
    .action(answering(async ({ options }) => migrateStore(options)))
  program
    .command('sandbox')
    .description('run the simulated vendors alone')
    .addOption(
      new Option('--listen <address>', 'where')
        .argParser(readListenAddress)
        .default({ host: '127.0.0.1', port: 9100 }, '127.0.0.1:9100'),
    )
    .action(async (options: { readonly listen: ListenAddress }, command: Command) => {
      const { runSandbox } = await import('../sandbox/sandbox.ts')
      const isJson = command.optsWithGlobals<Given['options']>()['json'] === true
      await runSandbox(options.listen, (url) => {
        const text = `Simulated vendors at ${url} (channel urls: ${url}/NAME)\n`
        process.stdout.write(isJson ? toJson({ url }) : text)
      })
    })
  program
    .command('audit')
    .description('derive every balance and figure anew and report differences')
    .action(onExistingStore(async (context) => showAudit(await auditLedger(context))))
  program
    .command('actions')
    .description('what operators have done, newest first')
    .option('--count <n>', 'at most so many', '100')
    .action(
      onExistingStore(async (context, { options }) =>
        showActions(await recentActions(context, { count: options['count'] })),
      ),
    )
  addDoctorCommand(program)
}

/** The one moment in which the first admin token is shown; the log lines on stdout never hold it. */
function announce({ adminToken }: Ready): void {
  if (adminToken === undefined) return
  process.stderr.write(`Admin token, shown this once: ${adminToken}\n`)
}

/** Everything a script needs to go on; the log is on stderr then. */
function announceAsJson({ app, adminToken }: Ready): void {
  const ready = {
    address: formatListenAddress(app.address),
    admin_address: formatListenAddress(app.adminAddress),
    admin_token: adminToken ?? null,
  }
  process.stdout.write(toJson(ready))
}

async function migrateStore(options: Readonly<Record<string, unknown>>): Promise<Answer> {
  const { database, migrated } = await openStore(readConfig(options))
  await database.close()
  const text =
    migrated.applied.length === 0
      ? `The store has schema version ${migrated.version} already.`
      : `Applied ${migrated.applied.join(', ')}. The store has schema version ${migrated.version}.`
  return { json: migrated, text }
}

function readListenAddress(text: string): ListenAddress {
  const address = parseListenAddress(text)
  if (address !== undefined) return address
  throw new InvalidArgumentError('It must be an address such as 127.0.0.1:9100.')
}

function showAudit(audit: AuditView): Answer {
  const { clean, counts, differences, exchanges_from } = audit
  const lines = differences.map(({ invariant, account_id, row, message }) =>
    [invariant, account_id, `(${row})`, message].filter((word) => word !== '').join(' '),
  )
  const verdict = clean ? 'The books agree.' : `${counts.differences} differences.`
  const { accounts, entries, exchanges, charges } = counts
  const head = formatFields({
    accounts,
    entries,
    exchanges,
    charges,
    ...(exchanges_from !== null && { 'exchanges kept from': exchanges_from }),
  })
  return {
    json: audit,
    text: [head, ...lines, verdict].join('\n'),
    exitCode: clean ? exitCodes.done : exitCodes.failed,
  }
}

function showActions(actions: readonly ActionView[]): Answer {
  const text = formatTable(
    ['at', 'actor', 'action', 'subject', 'detail'],
    actions.map(({ at, actor, action, subject, detail }) => [
      at,
      actor,
      action,
      subject,
      JSON.stringify(detail),
    ]),
    'Nothing has been done yet.',
  )
  return { json: actions, text }
}

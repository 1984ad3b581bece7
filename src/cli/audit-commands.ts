/** `turnpike audit …`: runs an audit of the ledger, and shows those that ran. */
import type { Command } from 'commander'
import { storeEndpoints } from '../operations/store/endpoints.ts'
import type { AuditDone, AuditRunInFull, AuditRunView } from '../operations/store/audit-runs.ts'
import { command, exitCodes, parseCount, shown, type Answer } from './command.ts'
import { formatFields, formatTable } from './output.ts'

export function addAuditCommands(program: Command): void {
  const audit = program
    .command('audit')
    .description('recompute all balances and figures; report differences')
    .action(
      command({ store: 'existing' }, async ({ call }) =>
        shown(await call(storeEndpoints.audit, {}), showDone),
      ),
    )
  audit
    .command('list')
    .description('list audits, those of the gateways too, newest first')
    .option('--count <n>', 'show at most this many, 1 to 10000', parseCount, 100)
    .action(
      command({ store: 'existing' }, async ({ callAll, options }) =>
        shown(await callAll(storeEndpoints.audits, {}, Number(options['count'])), showList),
      ),
    )
  audit
    .command('show')
    .description('show one audit with its differences')
    .argument('<id>', 'as turnpike audit list shows it')
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [id] }) =>
        shown(await call(storeEndpoints.showAudit, { id }), showOne),
      ),
    )
}

function showDone(audit: AuditDone): Answer {
  const { clean, counts, exchanges_from, is_recorded } = audit
  const verdict = clean
    ? 'Ledger audit passed.'
    : `Ledger audit failed: ${counts.differences} differences.`
  const { accounts, entries, exchanges, charges } = counts
  const head = formatFields({
    accounts,
    entries,
    exchanges,
    charges,
    ...(exchanges_from !== null && { 'exchanges kept from': exchanges_from }),
    ...(!is_recorded && { recorded: 'no: the store could not be written' }),
  })
  return {
    json: audit,
    text: [head, ...differenceLines(audit), verdict].join('\n'),
    exitCode: clean ? exitCodes.done : exitCodes.failed,
  }
}

function differenceLines({ differences }: AuditRunInFull): readonly string[] {
  return differences.map(({ invariant, account_id, row, message }) =>
    [invariant, account_id, `(${row})`, message].filter((word) => word !== '').join(' '),
  )
}

function showList(audits: readonly AuditRunView[]): Answer {
  const text = formatTable(
    ['at', 'id', 'by', 'scope', 'result', 'differences', 'accounts', 'entries', 'ms'],
    audits.map(({ at, id, actor, scope, result, counts, duration_ms }) => [
      at,
      id,
      actor,
      scope,
      result,
      counts.differences,
      counts.accounts,
      counts.entries,
      duration_ms,
    ]),
    'No audits yet.',
  )
  return { json: audits, text }
}

function showOne(audit: AuditRunInFull): Answer {
  const { id, at, duration_ms, actor, scope, result, counts, exchanges_from, error } = audit
  const fields = formatFields({
    id,
    at,
    ms: duration_ms,
    by: actor,
    scope,
    result,
    ...counts,
    ...(exchanges_from !== null && { 'exchanges kept from': exchanges_from }),
    ...(error !== null && { error }),
  })
  return { json: audit, text: [fields, ...differenceLines(audit)].join('\n') }
}

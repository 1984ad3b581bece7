/** `turnpike report`: requests, tokens, revenue, own cost, margin and times, as a table, CSV or JSON. */
import type { Command } from 'commander'
import { csvRow } from '../base/csv.ts'
import { reportEndpoints } from '../endpoints/reports.ts'
import type { ReportRow } from '../operations/reports/report.ts'
import { command, shown, type Answer } from './command.ts'
import { formatTable } from './output.ts'

export function addReportCommand(program: Command): void {
  program
    .command('report')
    .description('show requests, tokens, revenue, own cost, margin and times of whole days (UTC)')
    .option('--by <list>', 'total, or any of day,account,key,model,channel', 'day')
    .option('--from <date>', 'first day; 30 days up to today without it')
    .option('--to <date>', 'last day, included; today without it')
    .option('--account <account>', 'only this account, by name or id')
    .option('--key <id>', 'only this key')
    .option('--model <id>', 'only this model')
    .option('--channel <name>', 'only this channel')
    .option('--csv', 'print CSV')
    .addHelpText(
      'after',
      `
Example:
  turnpike report --by model,channel --from 2027-01-01 --to 2027-01-31`,
    )
    .action(
      command({ store: 'existing' }, async ({ callAll, options }) => {
        const { by, from, to, account, key, model, channel } = options
        const input = { by, from, to, account, key, model, channel }
        return shown(await callAll(reportEndpoints.report, input), (rows) =>
          show(rows, options['csv'] === true),
        )
      }),
    )
}

function show(rows: readonly ReportRow[], isCsv: boolean): Answer {
  return { json: rows, text: isCsv ? formatCsv(rows) : formatReport(rows) }
}

function formatCsv(rows: readonly ReportRow[]): string {
  const columns = columnsOf(rows)
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))].map(csvRow).join('')
}

/** All columns but those of keys that the report is not by. */
function columnsOf(rows: readonly ReportRow[]): readonly (keyof ReportRow)[] {
  const isShown = (column: keyof ReportRow): boolean =>
    !groupColumns.includes(column) || rows.some((row) => row[column] !== null)
  return columnsInOrder.filter(isShown)
}

const groupColumns: readonly (keyof ReportRow)[] = [
  'day',
  'account_id',
  'account',
  'key_id',
  'key',
  'model',
  'channel',
]

const columnsInOrder: readonly (keyof ReportRow)[] = [
  ...groupColumns,
  'requests',
  'charged_requests',
  'errors',
  'failovers',
  'checks',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'revenue_usd',
  'refunded_usd',
  'own_cost_usd',
  'estimated_cost_usd',
  'unknown_cost_requests',
  'margin_usd',
  'first_event_p50_ms',
  'first_event_p95_ms',
]

/** The table shows names in place of ids, and fewer columns than CSV and JSON. */
function formatReport(rows: readonly ReportRow[]): string {
  const groups = (['day', 'account', 'key', 'model', 'channel'] as const).filter((column) =>
    rows.some((row) => row[column] !== null),
  )
  return formatTable(
    [...groups, 'requests', 'errors', 'failovers', 'input', 'output'].concat([
      'cache',
      'revenue USD',
      'refunded USD',
      'own cost USD',
      'estimated USD',
      'margin USD',
      'p50 ms',
      'p95 ms',
    ]),
    rows.map((row) => [
      ...groups.map((column) => row[column]),
      row.requests,
      row.errors,
      row.failovers,
      row.input_tokens,
      row.output_tokens,
      row.cache_read_tokens + row.cache_write_tokens,
      row.revenue_usd,
      row.refunded_usd,
      row.own_cost_usd,
      row.estimated_cost_usd,
      row.margin_usd,
      row.first_event_p50_ms,
      row.first_event_p95_ms,
    ]),
    'No requests in this period.',
  )
}

/** `turnpike report`: requests, tokens, revenue, own cost, margin and times, as a table, CSV or JSON. */
import type { Command } from 'commander'
import { reportCsv, reportEndpoints } from '../operations/reports/endpoints.ts'
import type { ReportRow } from '../operations/reports/report.ts'
import { command, shown, write } from './command.ts'
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
    .option('--largest <n>', 'only so many values of the last key of --by; all others as one row')
    .option(
      '--largest-by <figure>',
      'the largest by revenue, requests or tokens; revenue without it',
    )
    .option('--csv', 'print CSV')
    .addHelpText(
      'after',
      `
Example:
  turnpike report --by model,channel --from 2027-01-01 --to 2027-01-31`,
    )
    .action(
      command({ store: 'existing' }, async ({ callAll, stream, options }) => {
        const { by, from, to, account, key, model, channel, csv, json } = options
        const { largest, largestBy } = options
        const filters = { account, key, model, channel }
        const input = { by, from, to, ...filters, largest, largest_by: largestBy }
        if (csv === true && json !== true)
          return shown(await stream(reportCsv, { ...input, format: 'csv' }, write), () => undefined)
        return shown(await callAll(reportEndpoints.report, input), (rows) => ({
          json: rows,
          text: formatReport(rows),
        }))
      }),
    )
}

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
      'without cost USD',
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
      row.known_margin_usd,
      row.unknown_cost_revenue_usd,
      row.first_event_p50_ms,
      row.first_event_p95_ms,
    ]),
    'No requests in this period.',
  )
}

/** `turnpike request …` and `turnpike report`: single requests, and their sums. */
import { reportCsv, reportEndpoints } from '../../operations/reports/endpoints.ts'
import { requestEndpoints } from '../../operations/requests/endpoints.ts'
import type { Page } from '../../operations/paging.ts'
import type { RequestView } from '../../operations/requests/view.ts'
import { allColumnsOf, tableOf } from '../columns.ts'
import { shown, write } from '../command.ts'
import { callRow, listRow, runRow, type CommandRow } from '../row.ts'
import { periodHints } from '../since.ts'

export const reportCommand: CommandRow = runRow(reportEndpoints.report, {
  words: 'report',
  without: ['cursor', 'limit', 'format', 'sort', 'order', 'compare'],
  more: { '--csv': 'print CSV' },
  help: `Example:
  turnpike report --by model,channel --from 2027-01-01 --to 2027-01-31`,
  work: async ({ callAll, stream, options: { csv, json } }, input) => {
    if (csv === true && json !== true)
      return shown(await stream(reportCsv, { ...input, format: 'csv' }, write), () => undefined)
    return shown(await callAll(reportEndpoints.report, input), (rows) => ({
      json: rows,
      text: tableOf(rows, allColumnsOf(rows), 'No requests in this period.'),
    }))
  },
})

export const requestCommands: readonly CommandRow[] = [
  listRow(reportEndpoints.caches, {
    words: 'cache list',
    empty: 'No channel has had input today or in the week before.',
  }),
  callRow(requestEndpoints.show, {
    words: 'request show',
    hints: { request: { flags: '<id>' } },
  }),
  callRow(requestEndpoints.list, {
    words: 'request list',
    hints: { ...periodHints, limit: { fallback: '50' } },
    help: `Example:
  turnpike request list --account acme --status 4xx --since 2h`,
    show: listText,
  }),
]

function listText(page: Page<RequestView>): string {
  const table = tableOf(
    page.items,
    [
      ['at', 'started_at'],
      'id',
      'account',
      ['key', 'key_id'],
      'model',
      'channel',
      'outcome',
      'status',
      'code',
      ['in', 'input_tokens'],
      ['out', 'output_tokens'],
      ['USD', 'cost_usd'],
      'label',
      'requests',
    ],
    'There are no such requests.',
  )
  const sums = page.items.some(({ requests }) => requests > 1)
    ? '\n\nA line with more than one request stands for refused or free requests of one key within a minute.'
    : ''
  const more =
    page.next_cursor === null ? '' : `\n\nThere are more: add --cursor ${page.next_cursor}`
  return table + sums + more
}

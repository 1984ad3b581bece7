/** `turnpike request …`: the request log. */
import type { Command } from 'commander'
import { requestEndpoints } from '../operations/requests/endpoints.ts'
import type { RequestInFull, RequestView } from '../operations/requests/view.ts'
import { command, shown, type Answer } from './command.ts'
import { formatFields, formatTable, type Cell } from './output.ts'
import { sinceOf } from './since.ts'

export function addRequestCommands(program: Command): void {
  const request = program.command('request').description('see what became of requests')
  request
    .command('show')
    .description('show one request: outcome, attempts, cost')
    .argument('<id>', "its x-turnpike-request-id, or the vendor's own id")
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [id] }) =>
        shown(await call(requestEndpoints.show, { request: id }), showOne),
      ),
    )
  request
    .command('list')
    .description('list requests, the newest first')
    .option('--account <account>', 'name or id of the account')
    .option('--key <id>', 'id of the key')
    .option('--model <model>', 'model as requested')
    .option('--channel <channel>', 'channel whose answer the client got')
    .option('--status <status>', 'status such as 402, or 4xx')
    .option('--code <code>', 'error code such as ledger.insufficient_balance')
    .option('--since <time>', 'a date, a time, or an age such as 30m or 2h')
    .option('--until <time>', 'a date (included) or a time')
    .option('--limit <n>', 'at most this many, up to 1000', '50')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .addHelpText(
      'after',
      `
Example:
  turnpike request list --account acme --status 4xx --since 2h`,
    )
    .action(
      command({ store: 'existing' }, async ({ call, options }) => {
        const { account, key, model, channel, status, code, until, limit, cursor } = options
        const filter = { account, key, model, channel, status, code, limit, cursor }
        const input = { ...filter, from: sinceOf(options['since']), to: until }
        return shown(await call(requestEndpoints.list, input), showList)
      }),
    )
}

const heading = ['at', 'id', 'account', 'key', 'model', 'channel', 'outcome', 'status', 'code']
const figures = ['in', 'out', 'USD', 'requests']

function showList(page: {
  readonly items: readonly RequestView[]
  readonly next_cursor: string | null
}): Answer {
  const rows = page.items.map((one): readonly Cell[] => [
    one.started_at,
    one.id,
    one.account,
    one.key_id,
    one.model,
    one.channel,
    one.outcome,
    one.status,
    one.code,
    one.input_tokens,
    one.output_tokens,
    one.cost_usd,
    one.requests,
  ])
  const table = formatTable([...heading, ...figures], rows, 'There are no such requests.')
  const sums = page.items.some(({ requests }) => requests > 1)
    ? '\n\nA line with more than one request stands for refused or free requests of one key within a minute.'
    : ''
  const more =
    page.next_cursor === null ? '' : `\n\nThere are more: add --cursor ${page.next_cursor}`
  return { json: page, text: table + sums + more }
}

function showOne(view: RequestInFull): Answer {
  const { attempts, bill, refund, tokens, marks, account_id, error, ...fields } = view
  const text = formatFields({
    ...fields,
    account: `${view.account} (${account_id})`,
    tokens: Object.entries(tokens).map(([name, count]) => `${name} ${count}`),
    marks,
    error: error === null ? null : `${error.meaning} ${error.advice}`,
    calculation: bill?.calculation,
    refund: refund === null ? null : `${refund.amount_usd} USD at ${refund.at}`,
  })
  const table = formatTable(
    [
      'attempt',
      'channel',
      'status',
      'class',
      'blame',
      'started ms',
      'first event ms',
      'duration ms',
    ],
    attempts.map((one, index): readonly Cell[] => [
      index + 1,
      one.channel,
      one.status,
      one.class,
      one.blame,
      one.started_ms,
      one.first_event_ms,
      one.duration_ms,
    ]),
    'The gateway made no attempt.',
  )
  return { json: view, text: `${text}\n\n${table}` }
}

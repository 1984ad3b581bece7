/** `turnpike account statement`: text, CSV or one JSON document, written while it is read. */
import type { Command } from 'commander'
import { accountStreams } from '../operations/accounts/endpoints.ts'
import type {
  StatementHead,
  StatementEnd,
  StatementLine,
  StatementSink,
} from '../operations/reports/statement.ts'
import { readStatementText } from '../operations/reports/statement-text.ts'
import { command, shown, write } from './command.ts'
import { formatFields, formatTable } from './output.ts'

export function addStatementCommand(account: Command): void {
  account
    .command('statement')
    .description('show credits and charges, oldest first, with the calculation of each charge')
    .argument('<account>', 'name or id of the account')
    .option('--from <date>', 'first day (UTC), or a time such as 2027-01-31T12:00:00Z')
    .option('--to <date>', 'last day (UTC, included), or a time')
    .option('--last <count>', 'only the end of the period, with at least so many charges')
    .option('--csv', 'print CSV')
    .action(
      command({ store: 'existing' }, async ({ stream, arguments: [account], options }) => {
        const { from, to, last, json, csv } = options
        const format = csv === true && json !== true ? 'csv' : 'json'
        const sink = json === true || csv === true ? write : readStatementText(textSink())
        const input = { account, from, to, last, format }
        return shown(await stream(accountStreams.statement, input, sink), () => undefined)
      }),
    )
}

const linesPerTable = 200
const tableHeading = [
  'at',
  'kind',
  'USD',
  'balance',
  'reference',
  'key',
  'model',
  'channel',
].concat(['outcome', 'marks', 'calculation'])

function textSink(): StatementSink {
  let rows: (readonly string[])[] = []
  const flush = async (): Promise<void> => {
    if (rows.length > 0) await write(`${formatTable(tableHeading, rows, '')}\n\n`)
    rows = []
  }
  return {
    begin: (head) => write(`${headText(head)}\n\n`),
    async line(line) {
      rows.push(textCells(line))
      if (rows.length === linesPerTable) await flush()
    },
    async end(end) {
      await flush()
      await write(`${endText(end)}\n`)
    },
  }
}

function textCells(line: StatementLine): readonly string[] {
  const { exchange } = line
  return [
    line.at,
    line.kind,
    line.amount,
    line.balance,
    line.reference,
    exchange?.key ?? '',
    exchange?.model ?? '',
    exchange?.channel ?? '',
    exchange?.outcome ?? '',
    exchange?.marks.join(' ') ?? '',
    exchange?.calculation ?? line.note ?? '',
  ]
}

function headText(head: StatementHead): string {
  return formatFields({
    account: head.name,
    from: head.from ?? 'the beginning',
    to: head.to ?? 'now',
    ...(head.explained_from !== null && { 'explained from': head.explained_from }),
    'opening balance USD': head.opening_balance,
  })
}

function endText({ totals, sum, closing_balance }: StatementEnd): string {
  return formatFields({
    requests: totals.requests,
    'input tokens': totals.input_tokens,
    'output tokens': totals.output_tokens,
    'cache tokens': totals.cache_tokens,
    ...(totals.unexplained > 0 && { 'charges without details': totals.unexplained }),
    'charged USD': totals.charged,
    'booked by operators USD': totals.booked_by_operators,
    ...(totals.refunded !== '0' && { 'of this refunds USD': totals.refunded }),
    'sum USD': sum,
    'closing balance USD': closing_balance,
  })
}

/** An account's statement as text for programs: CSV, or one JSON document, written while it is read. */
import { z } from 'zod'
import { csvRow, type CsvCell } from '../../base/csv.ts'
import { operation } from '../operation.ts'
import {
  readStatement,
  statementFields,
  type StatementEnd,
  type StatementHead,
  type StatementLine,
  type StatementSink,
} from './statement.ts'

/** Writes a piece of text; resolves when more may follow. */
type WriteText = (text: string) => Promise<void> | void

export const printStatement = operation(
  z.strictObject({
    ...statementFields,
    format: z.enum(['json', 'csv'], 'must be json or csv').default('json'),
  }),
  (context, { format, ...given }, write: WriteText): Promise<void> =>
    readStatement(context, given, format === 'csv' ? csvSink(write) : jsonSink(write)),
)

function jsonSink(write: WriteText): StatementSink {
  let separator = ''
  return {
    begin: (head) => write(`${JSON.stringify(head).slice(0, -1)},"entries":[`),
    line(line) {
      const text = `${separator}\n${JSON.stringify(line)}`
      separator = ','
      return write(text)
    },
    end: (end) => write(`\n],${JSON.stringify(end).slice(1)}\n`),
  }
}

/** Reads what `jsonSink` writes, in pieces of any size, into `sink`. One line at a time is in memory. */
export function readStatementText(sink: StatementSink): (text: string) => Promise<void> {
  let rest = ''
  let isBegun = false
  const readLine = (line: string): Promise<void> | void => {
    if (line.startsWith(']')) return sink.end(JSON.parse(`{${line.slice(2)}`) as StatementEnd)
    if (isBegun) return sink.line(JSON.parse(line.replace(/,$/, '')) as StatementLine)
    isBegun = true
    return sink.begin(JSON.parse(`${line}]}`) as StatementHead)
  }
  return async (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) await readLine(line)
  }
}

const columns = [
  'at',
  'kind',
  'amount_usd',
  'balance_usd',
  'reference',
  'key',
  'vendor',
  'model',
  'channel',
  'outcome',
  'marks',
  'input_tokens',
  'output_tokens',
  'cache_tokens',
  'calculation',
  'note',
]

function cells(line: StatementLine): readonly CsvCell[] {
  const { exchange } = line
  return [
    line.at,
    line.kind,
    line.amount,
    line.balance,
    line.reference,
    exchange?.key ?? null,
    exchange?.vendor ?? null,
    exchange?.model ?? null,
    exchange?.channel ?? null,
    exchange?.outcome ?? null,
    exchange?.marks.join(' ') ?? null,
    exchange?.input_tokens ?? null,
    exchange?.output_tokens ?? null,
    exchange?.cache_tokens ?? null,
    exchange?.calculation ?? null,
    line.note,
  ]
}

/** Opening and closing balance are rows too, so that the file can be checked without the gateway. */
function csvSink(write: WriteText): StatementSink {
  const balanceRow = (kind: string, at: string | null, balance: string): string =>
    csvRow([at, kind, null, balance, ...columns.slice(4).map(() => null)])
  let to: string | null = null
  return {
    begin(head) {
      to = head.to
      return write(csvRow(columns) + balanceRow('opening', head.from, head.opening_balance))
    },
    line: (line) => write(csvRow(cells(line))),
    end: (end) => write(balanceRow('closing', to, end.closing_balance)),
  }
}

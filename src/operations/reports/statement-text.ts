/** An account's statement as text for programs: CSV, or one JSON document, written while it is read. */
import { z } from 'zod'
import { csvRow, type CsvCell } from '../../base/csv.ts'
import type { WriteText } from '../list-text.ts'
import { operation } from '../operation.ts'
import { readStatement, statementFields, type StatementSink } from './statement.ts'
import type { StatementEnd, StatementHead, StatementLine } from './statement-form.ts'

export const statementFormat = z.enum(['json', 'csv'], 'must be json or csv').default('json')

const printInput = z.strictObject({ ...statementFields, format: statementFormat })

export const printStatement = operation(
  { input: printInput },
  (context, { format, ...given }, write: WriteText): Promise<void> =>
    readStatement(context, given, format === 'csv' ? csvSink(write) : jsonSink(write)),
)

interface JsonSink extends StatementSink {
  line(line: object): Promise<void> | void
}

function jsonSink(write: WriteText): JsonSink {
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

type Column = readonly [name: string, read: (line: StatementLine) => CsvCell]

const columns: readonly Column[] = [
  ['at', (line) => line.at],
  ['kind', (line) => line.kind],
  ['amount_usd', (line) => line.amount],
  ['balance_usd', (line) => line.balance],
  ['reference', (line) => line.reference],
  ['key', ({ exchange }) => exchange?.key ?? null],
  ['vendor', ({ exchange }) => exchange?.vendor ?? null],
  ['model', ({ exchange }) => exchange?.model ?? null],
  ['channel', ({ exchange }) => exchange?.channel ?? null],
  ['outcome', ({ exchange }) => exchange?.outcome ?? null],
  ['marks', ({ exchange }) => exchange?.marks.join(' ') ?? null],
  ['input_tokens', ({ exchange }) => exchange?.input_tokens ?? null],
  ['output_tokens', ({ exchange }) => exchange?.output_tokens ?? null],
  ['cache_tokens', ({ exchange }) => exchange?.cache_tokens ?? null],
  ['calculation', ({ exchange }) => exchange?.calculation ?? null],
  ['place', ({ proof }) => proof?.place ?? null],
  ['hash', ({ proof }) => proof?.hash ?? null],
  ['note', (line) => line.note],
]

/** Facts of the operator's side, which the holder of the account does not see. */
const operatorColumns: ReadonlySet<string> = new Set(['channel', 'note'])

/** As `csvSink` and `jsonSink`, without the operator's side: channels, attempts and notes. */
export function holderSink(format: 'json' | 'csv', write: WriteText): StatementSink {
  if (format === 'csv')
    return csvSink(
      write,
      columns.filter(([name]) => !operatorColumns.has(name)),
    )
  const sink = jsonSink(write)
  return { ...sink, line: (line) => sink.line(forHolder(line)) }
}

function forHolder({ note: _note, exchange, ...line }: StatementLine) {
  if (exchange === null) return { ...line, exchange }
  const { channel: _channel, attempts: _attempts, ...shown } = exchange
  return { ...line, exchange: shown }
}

/** Opening and closing balance are rows too, so that the file can be checked without the gateway. */
function csvSink(write: WriteText, shown = columns): StatementSink {
  const balanceRow = (kind: string, at: string | null, balance: string): string =>
    csvRow([at, kind, null, balance, ...shown.slice(4).map(() => null)])
  let to: string | null = null
  return {
    begin(head) {
      to = head.to
      return write(
        csvRow(shown.map(([name]) => name)) +
          balanceRow('opening', head.from, head.opening_balance),
      )
    },
    line: (line) => write(csvRow(shown.map(([, read]) => read(line)))),
    end: (end) => write(balanceRow('closing', to, end.closing_balance)),
  }
}

/** `turnpike account statement`: text, CSV or one JSON document, written while it is read. */
import { accountStreams } from '../../operations/accounts/endpoints.ts'
import type { StatementSink } from '../../operations/reports/statement.ts'
import type { StatementLine } from '../../operations/reports/statement-form.ts'
import { readStatementText } from '../../operations/reports/statement-text.ts'
import { tableOf, textOf, type Column } from '../columns.ts'
import { shown, write } from '../command.ts'
import { runRow } from '../row.ts'

export const statementCommand = runRow(accountStreams.statement, {
  words: 'account statement',
  text: 'show credits and charges, oldest first, with the calculation of each charge',
  without: ['format'],
  more: { '--csv': 'print CSV' },
  work: async ({ stream, options: { json, csv } }, input) => {
    const format = csv === true && json !== true ? 'csv' : 'json'
    const sink = json === true || csv === true ? write : readStatementText(textSink())
    const outcome = await stream(accountStreams.statement, { ...input, format }, sink)
    return shown(outcome, () => undefined)
  },
})

const linesPerTable = 200

const columns: readonly Column<StatementLine>[] = [
  'at',
  'kind',
  ['USD', 'amount'],
  'balance',
  'reference',
  'exchange.key',
  'exchange.model',
  'exchange.channel',
  'exchange.outcome',
  'exchange.marks',
  ['calculation', ({ exchange, note }) => exchange?.calculation ?? note],
]

function textSink(): StatementSink {
  let lines: StatementLine[] = []
  const flush = async (): Promise<void> => {
    if (lines.length > 0) await write(`${tableOf(lines, columns)}\n\n`)
    lines = []
  }
  return {
    begin: (head) => write(`${textOf(head)}\n\n`),
    async line(line) {
      lines.push(line)
      if (lines.length === linesPerTable) await flush()
    },
    async end({ proof, ...end }) {
      await flush()
      const sealed = proof?.heads.at(-1)
      await write(`${textOf({ ...end, sealed_until: sealed?.hour ?? null })}\n`)
    },
  }
}

/**
 * The statement of an account for its holder, written while it is read and complete for any length. It is
 * read page by page without a snapshot that lasts, because its reader is not trusted: a slow one would keep
 * the store from cleaning up.
 */
import { z } from 'zod'
import type { WriteText } from '../list-text.ts'
import { count, usd } from '../answer-forms.ts'
import { fromTime, pageLimit, untilTime } from '../input.ts'
import { operation, type OperationContext } from '../operation.ts'
import { openStatement, writeOpened } from '../reports/statement.ts'
import { sumStatement } from '../reports/statement-figures.ts'
import { holderSink, statementFormat } from '../reports/statement-text.ts'
import { getHolder, holderRead } from './holder-read.ts'

const period = { from: fromTime.optional(), to: untilTime.optional() }

const statementInput = z.strictObject({
  ...period,
  /** Only the end of the period, with at least so many of its charges. */
  last: pageLimit.optional(),
  format: statementFormat,
})

/** Without a start: the first day of the current month (UTC). */
function startOf(
  { from, to }: Pick<z.output<typeof statementInput>, 'from' | 'to'>,
  nowMs: number,
) {
  const today = new Date(nowMs)
  const monthStartMs = Date.UTC(today.getUTCFullYear(), today.getUTCMonth())
  return from ?? Math.min(monthStartMs, (to ?? Infinity) - 1)
}

const figuresForm = z.strictObject({
  opening_balance: usd,
  requests: count,
  charged: usd,
  refunds: usd,
  credits: usd,
  adjustments: usd,
  closing_balance: usd,
})

/** The figures of a statement without its lines, to look at before it is saved. */
export const holderStatementFigures = holderRead(
  { input: z.strictObject(period), answer: figuresForm },
  ({ snapshot, account, nowMs, input }) =>
    sumStatement(snapshot, {
      accountId: account.id,
      from: startOf(input, nowMs),
      to: input.to,
      nowMs,
    }),
)

/** From the first day of the current month (UTC) on by default. Refuses before it writes anything. */
export const holderStatement = operation(
  { input: statementInput },
  async (
    { database, clock }: OperationContext,
    { format, last, ...input },
    accountId: string,
    write: WriteText,
  ): Promise<void> => {
    const nowMs = clock.now()
    const from = startOf(input, nowMs)
    const opened = await database.snapshot(async (snapshot) => {
      const account = await getHolder(snapshot, accountId)
      return openStatement(snapshot, { account, from, to: input.to, last, nowMs })
    })
    await writeOpened(database, opened, holderSink(format, write))
  },
)

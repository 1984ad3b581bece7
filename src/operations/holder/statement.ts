/**
 * The statement of an account for its holder, written while it is read and complete for any length. It is
 * read page by page without a snapshot that lasts, because its reader is not trusted: a slow one would keep
 * the store from cleaning up.
 */
import { z } from 'zod'
import type { WriteText } from '../endpoint.ts'
import { fromTime, untilTime } from '../input.ts'
import { operation, type OperationContext } from '../operation.ts'
import { openStatement, writeOpened } from '../reports/statement.ts'
import { holderSink, statementFormat } from '../reports/statement-text.ts'
import { getHolder } from './holder-read.ts'

const statementInput = z.strictObject({
  from: fromTime.optional(),
  to: untilTime.optional(),
  format: statementFormat,
})

/** From the first day of the current month (UTC) on by default. Refuses before it writes anything. */
export const holderStatement = operation(
  { input: statementInput },
  async (
    { database, clock }: OperationContext,
    { format, to, ...input },
    accountId: string,
    write: WriteText,
  ): Promise<void> => {
    const nowMs = clock.now()
    const today = new Date(nowMs)
    const monthStartMs = Date.UTC(today.getUTCFullYear(), today.getUTCMonth())
    const from = input.from ?? Math.min(monthStartMs, (to ?? Infinity) - 1)
    const opened = await database.snapshot(async (snapshot) => {
      const account = await getHolder(snapshot, accountId)
      return openStatement(snapshot, { account, from, to, nowMs })
    })
    await writeOpened(database, opened, holderSink(format, write))
  },
)

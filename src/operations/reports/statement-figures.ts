/**
 * The figures of a statement for its whole period, without its lines: so a page can show them beside the last
 * lines alone. The invariant: opening − charged + refunds + credits + adjustments = closing, exactly.
 */
import { z } from 'zod'
import { dayMs } from '../../base/clock.ts'
import { addPicos, formatUsd, subtractPicos } from '../../base/money.ts'
import { readBookedSums, readOpeningBalance } from '../../ledger/statement.ts'
import type { Queryable } from '../../storage/database.ts'
import { getAccount } from '../accounts/accounts.ts'
import { count, moment, usd } from '../answer-forms.ts'
import { accountReference, fromTime, untilTime } from '../input.ts'
import { invalidField, operation, timeOrNull } from '../operation.ts'

const figuresInput = z.strictObject({
  account: accountReference,
  from: fromTime.optional(),
  to: untilTime.optional(),
})

const figuresForm = z.strictObject({
  account_id: z.string(),
  from: moment.nullable().meta({ description: 'Null = from the beginning.' }),
  to: moment.nullable().meta({ description: 'Null = up to now.' }),
  opening_balance_usd: usd,
  requests: count.meta({ description: 'Charged ones.' }),
  charged_usd: usd.meta({ description: 'A positive amount.' }),
  refunds_usd: usd,
  credits_usd: usd,
  adjustments_usd: usd.meta({ description: 'Corrections by operators; may be negative.' }),
  closing_balance_usd: usd,
})

export const readStatementFigures = operation(
  { input: figuresInput, answer: figuresForm },
  ({ database, clock }, { account: reference, ...period }) =>
    database.snapshot(async (snapshot) => {
      const { id } = await getAccount(snapshot, reference)
      const sums = await sumStatement(snapshot, { accountId: id, ...period, nowMs: clock.now() })
      return {
        account_id: id,
        from: timeOrNull(period.from),
        to: timeOrNull(period.to),
        opening_balance_usd: sums.opening_balance,
        requests: sums.requests,
        charged_usd: sums.charged,
        refunds_usd: sums.refunds,
        credits_usd: sums.credits,
        adjustments_usd: sums.adjustments,
        closing_balance_usd: sums.closing_balance,
      }
    }),
)

interface StatementPeriod {
  readonly accountId: string
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly nowMs: number
}

/** Sums up the entries of a period, exactly. */
export async function sumStatement(
  snapshot: Queryable,
  { accountId, from, to, nowMs }: StatementPeriod,
) {
  if (from !== undefined && to !== undefined && from >= to)
    throw invalidField('to', 'must be after from')
  // As in the statement: clocks of other machines may run ahead.
  const period = { accountId, fromMs: from ?? 0, toMs: to ?? nowMs + dayMs }
  const opening = await readOpeningBalance(snapshot, period)
  const sums = await readBookedSums(snapshot, period)
  const booked = addPicos(addPicos(sums.refundedPicos, sums.creditedPicos), sums.adjustedPicos)
  return {
    opening_balance: formatUsd(opening),
    requests: sums.requests,
    charged: formatUsd(sums.chargedPicos),
    refunds: formatUsd(sums.refundedPicos),
    credits: formatUsd(sums.creditedPicos),
    adjustments: formatUsd(sums.adjustedPicos),
    closing_balance: formatUsd(addPicos(subtractPicos(opening, sums.chargedPicos), booked)),
  }
}

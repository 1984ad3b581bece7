/**
 * The figures of a statement for its whole period, without its lines: so a page can show them beside the last
 * lines alone. The invariant: opening − charged + refunds + credits + adjustments = closing, exactly.
 */
import { z } from 'zod'
import { dayMs } from '../../base/clock.ts'
import { addPicos, formatUsd, subtractPicos } from '../../base/money.ts'
import { readBookedSums, readOpeningBalance } from '../../ledger/statement.ts'
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
  ({ database, clock }, { account: reference, from, to }) => {
    if (from !== undefined && to !== undefined && from >= to)
      throw invalidField('to', 'must be after from')
    return database.snapshot(async (snapshot) => {
      const { id } = await getAccount(snapshot, reference)
      // As in the statement: clocks of other machines may run ahead.
      const period = { accountId: id, fromMs: from ?? 0, toMs: to ?? clock.now() + dayMs }
      const opening = await readOpeningBalance(snapshot, period)
      const sums = await readBookedSums(snapshot, period)
      const booked = addPicos(addPicos(sums.refundedPicos, sums.creditedPicos), sums.adjustedPicos)
      return {
        account_id: id,
        from: timeOrNull(from),
        to: timeOrNull(to),
        opening_balance_usd: formatUsd(opening),
        requests: sums.requests,
        charged_usd: formatUsd(sums.chargedPicos),
        refunds_usd: formatUsd(sums.refundedPicos),
        credits_usd: formatUsd(sums.creditedPicos),
        adjustments_usd: formatUsd(sums.adjustedPicos),
        closing_balance_usd: formatUsd(addPicos(subtractPicos(opening, sums.chargedPicos), booked)),
      }
    })
  },
)

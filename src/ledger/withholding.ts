/** What becomes of an ended exchange whose charge could not be made durable when it was asked for. */
import { addPicos, zeroPicos } from '../base/money.ts'
import type { ExchangeRecord } from './ledger.ts'

export interface Withholdable {
  record: ExchangeRecord
  reject(error: Error): void
}

/**
 * Nobody gets the end of an answer whose charge is not durable, so nobody is charged for it later:
 * what remains to be recorded cost the operator what it would have cost the client. Withholding twice
 * is the same as once.
 */
export function withhold(settlement: Withholdable, error: Error): void {
  const { record } = settlement
  settlement.record = {
    ...record,
    ending: 'failed',
    amountPicos: zeroPicos,
    usage: undefined,
    marks: [],
    priceLines: '',
    operatorCostPicos: addPicos(record.operatorCostPicos, record.amountPicos),
  }
  settlement.reject(error)
}

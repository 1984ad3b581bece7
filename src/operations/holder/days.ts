/** What an account has used on each day of a period, in all or by key or model. */
import { z } from 'zod'
import { listKeys } from '../../access/key-store.ts'
import { utcDay } from '../../base/clock.ts'
import { usdNumber } from '../../base/money.ts'
import {
  addFigures,
  eachUsageDay,
  noFigures,
  type DayFigures,
  type Figures,
} from '../../ledger/usage.ts'
import { invalidField, invalid } from '../operation.ts'
import { holderRead } from './holder-read.ts'

const dayMs = 86_400_000
const usualDays = 30
const daysMax = 366
/** An answer is one document in memory. */
const rowsMax = 20_000

const day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, 'must be a day such as 2027-01-31')
  .refine((text) => !Number.isNaN(Date.parse(text)) && utcDay(Date.parse(text)) === text, {
    error: 'must be a day such as 2027-01-31',
  })

/** Both days are included; the last 30 days by default. Days without a charge have no line. */
export const holderDays = holderRead(
  z.strictObject({
    from: day.optional(),
    to: day.optional(),
    by: z.enum(['key', 'model'], 'must be key or model').optional(),
  }),
  async ({ snapshot, account, nowMs, input: { by, ...given } }) => {
    const to = given.to ?? utcDay(nowMs)
    const from = given.from ?? utcDay(Date.parse(to) - (usualDays - 1) * dayMs)
    if (from > to) throw invalidField('to', 'must not be before from')
    if (Date.parse(to) - Date.parse(from) >= daysMax * dayMs)
      throw invalidField('from', `must be at most ${daysMax} days before to`)
    const sums = new Map<string, Figures & { readonly key: DayFigures }>()
    for await (const row of eachUsageDay(snapshot, { accountId: account.id, from, to })) {
      const name = [row.day, by === 'key' ? row.keyId : by === 'model' ? row.model : ''].join('\0')
      let sum = sums.get(name)
      if (sum === undefined) {
        sum = { ...noFigures, key: row }
        sums.set(name, sum)
      }
      addFigures(sum, row)
      if (sums.size > rowsMax)
        throw invalid(`The answer would have more than ${rowsMax} lines. Ask for fewer days.`)
    }
    const names = by === 'key' ? await readKeyNames(snapshot, account.id) : undefined
    return {
      currency: 'USD' as const,
      from,
      to,
      by: by ?? null,
      days: [...sums]
        .sort(([left], [right]) => (left < right ? -1 : 1))
        .map(([, { key, ...figures }]) => ({
          day: key.day,
          ...(by === 'key' && { key_id: key.keyId, key: names?.get(key.keyId) ?? key.keyId }),
          ...(by === 'model' && { model: key.model }),
          requests: figures.requests,
          input_tokens: figures.inputTokens,
          output_tokens: figures.outputTokens,
          cache_tokens: figures.cacheTokens,
          cost_usd: usdNumber(figures.costPicos),
        })),
    }
  },
)

/** A key without a name shows its head. */
async function readKeyNames(
  snapshot: Parameters<typeof listKeys>[0],
  accountId: string,
): Promise<ReadonlyMap<string, string>> {
  const keys = await listKeys(snapshot, { kind: 'client', accountId })
  return new Map(keys.map(({ id, name, head }) => [id, name === '' ? head : name]))
}

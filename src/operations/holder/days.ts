/** What an account has used on each day of a period, in all or by key, model or label. */
import { z } from 'zod'
import { readNamesOfKeys } from '../../access/key-store.ts'
import { dayMs, utcDay } from '../../base/clock.ts'
import { formatUsd, usdNumber } from '../../base/money.ts'
import { readDays, type DayUsage, type DaysQuestion } from '../../ledger/usage.ts'
import { count, currency, usd, usdShown } from '../answer-forms.ts'
import { invalidField, invalid, operation, type OperationContext } from '../operation.ts'
import { ownKeysOnly } from '../members/acting-member.ts'
import { getHolder, idsOfOwnKeys } from './holder-read.ts'

const usualDays = 30
const daysMax = 366
/** An answer is one document in memory. */
const linesMax = 10_000
/** Read in one statement. */
const partDays = 31

const groups = ['key', 'model', 'label'] as const

const day = z.iso.date('must be a day such as 2027-01-31')

const daysInput = z.strictObject({
  from: day.optional(),
  to: day.optional(),
  by: z.enum(groups, 'must be key, model or label').optional(),
})

const daysForm = z.strictObject({
  currency,
  from: z.iso.date(),
  to: z.iso.date(),
  by: z.enum(groups).nullable(),
  days: z.array(
    z.strictObject({
      day: z.iso.date(),
      key_id: z.string().optional(),
      key: z.string().optional(),
      model: z.string().optional(),
      /** Empty without a label. */
      label: z.string().optional(),
      requests: count,
      input_tokens: count,
      output_tokens: count,
      cache_tokens: count,
      cost_usd: usdShown,
      cost: usd,
    }),
  ),
})

/** Both days are included; the last 30 days by default. Days without a charge have no line. */
export const holderDays = operation(
  { input: daysInput, answer: daysForm },
  async (context: OperationContext, { by, ...given }, accountId: string) => {
    const { database, clock } = context
    const memberId = ownKeysOnly(context)
    if (memberId !== undefined && by !== 'key')
      throw invalidField('by', 'must be key, because you see your own keys only')
    const to = given.to ?? utcDay(clock.now())
    const from = given.from ?? utcDay(Date.parse(to) - (usualDays - 1) * dayMs)
    if (from > to) throw invalidField('to', 'must not be before from')
    if (Date.parse(to) - Date.parse(from) >= daysMax * dayMs)
      throw invalidField('from', `must be at most ${daysMax} days before to`)
    const names = await database.snapshot(async (snapshot) => {
      await getHolder(snapshot, accountId)
      return by === 'key' ? readNamesOfKeys(snapshot, accountId) : undefined
    })
    const own = memberId && (await idsOfOwnKeys(database, { accountId, memberId }))
    const days: DayUsage[] = []
    for await (const read of eachPart(database, { accountIds: [accountId], from, to, by }))
      days.push(...read.filter(({ of }) => typeof own !== 'object' || own.has(of)))
    return {
      currency: 'USD' as const,
      from,
      to,
      by: by ?? null,
      days: days.map(({ day: name, of, ...sums }) => ({
        day: name,
        ...(by === 'key' && { key_id: of, key: names?.get(of) ?? of }),
        ...(by === 'model' && { model: of }),
        ...(by === 'label' && { label: of }),
        requests: sums.requests,
        input_tokens: sums.inputTokens,
        output_tokens: sums.outputTokens,
        cache_tokens: sums.cacheTokens,
        cost_usd: usdNumber(sums.costPicos),
        cost: formatUsd(sums.costPicos),
      })),
    }
  },
)

/** Reads some days at a time: the questions of other accounts are answered between. */
async function* eachPart(
  database: OperationContext['database'],
  { from, to, ...question }: Omit<DaysQuestion, 'rowsMax'>,
): AsyncGenerator<readonly DayUsage[]> {
  let count = 0
  const step = partDays * dayMs
  for (let startMs = Date.parse(from); startMs <= Date.parse(to); startMs += step) {
    const last = utcDay(startMs + step - dayMs)
    const period = { from: utcDay(startMs), to: last < to ? last : to }
    const rowsMax = linesMax - count + 1
    const read = await readDays(database, { ...question, ...period, rowsMax })
    count += read.length
    if (count > linesMax)
      throw invalid(`The answer would have more than ${linesMax} lines. Ask for fewer days.`)
    yield read
  }
}

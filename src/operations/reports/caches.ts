/** The use of vendors' prompt caches by model and channel: today (UTC) beside the seven days before. */
import { z } from 'zod'
import { hitRate, readCacheUse } from '../../ledger/cache-use.ts'
import { hasFallen } from '../alerts/cache-rules.ts'
import { count, pageForm } from '../answer-forms.ts'
import { operation } from '../operation.ts'
import { pageFields, pageOfList } from '../paging.ts'
import { cacheHitRate } from './report-figures.ts'

const cacheForm = z.strictObject({
  model: z.string(),
  channel: z.string(),
  hit_rate: cacheHitRate,
  prompt_tokens: count.meta({ description: 'All input today, from the cache or not.' }),
  week_hit_rate: cacheHitRate,
  week_prompt_tokens: count,
  has_fallen: z.boolean().meta({
    description: 'Less than half of the week; never where there is little input.',
  }),
})

export const listCaches = operation(
  { input: z.strictObject(pageFields), answer: pageForm(cacheForm) },
  async ({ clock, database }, page) =>
    pageOfList(await readCacheUse(database, clock.now()), page, {
      cursorOf: ({ model, channel }) => `${model} ${channel}`,
      view: ({ model, channel, today, week }) => ({
        model,
        channel,
        hit_rate: hitRate(today),
        prompt_tokens: today.promptTokens,
        week_hit_rate: hitRate(week),
        week_prompt_tokens: week.promptTokens,
        has_fallen: hasFallen({ today, week }, false),
      }),
    }),
)

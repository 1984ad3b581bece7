/**
 * The alert on a prompt cache that has stopped working: input then costs several times as much, and nothing
 * else shows it. Pure but for `watchCaches`, which reads the sums.
 */
import { hitRate, readCacheUse, type CacheUse } from '../../ledger/cache-use.ts'
import { keyOf, type Finding } from './alert-kind.ts'
import { applyObservation, readConditions, type RaiseOptions } from './raise.ts'

const kind = 'channel.cache_fallen'
/** With less input one long conversation decides. */
const promptTokensMin = { today: 100_000, week: 1_000_000 } as const
/** A lower rate is no cache at work. */
const weekRateMin = 0.2
const fallenBelow = 0.5
/** An alert that fires ends by a wider margin, so that it does not flicker. */
const risenAbove = 0.6

export async function watchCaches(options: RaiseOptions, nowMs: number): Promise<void> {
  const { database } = options
  const known = await readConditions(database)
  const findings = (await readCacheUse(database, nowMs)).flatMap((use) => {
    const subject = `${use.channel} ${use.model}`
    return hasFallen(use, known.has(keyOf({ kind, subject }))) ? [cacheFallen(subject, use)] : []
  })
  await applyObservation(options, { kinds: [kind], findings }, nowMs)
}

/** `isFiring`: it had fallen before. Little input today says nothing new. */
export function hasFallen(
  { today, week }: Pick<CacheUse, 'today' | 'week'>,
  isFiring: boolean,
): boolean {
  const weekRate = hitRate(week) ?? 0
  if (week.promptTokens < promptTokensMin.week || weekRate < weekRateMin) return false
  if (today.promptTokens < promptTokensMin.today) return isFiring
  return (hitRate(today) ?? 0) < weekRate * (isFiring ? risenAbove : fallenBelow)
}

function cacheFallen(subject: string, { channel, model, today, week }: CacheUse): Finding {
  const rate = percent(hitRate(today))
  const weekRate = percent(hitRate(week))
  return {
    kind,
    subject,
    channel,
    title: `The prompt cache of ${channel} serves ${rate} for ${model}, ${weekRate} in the week before`,
    text:
      `Today ${rate} of the input of ${model} on the channel ${channel} came from the cache of the vendor; in ` +
      `the seven days before it was ${weekRate}. Input that is not cached costs more. Look for requests that ` +
      'change the beginning of their prompt, and for sessions that move between channels.',
    command: 'turnpike cache list',
    facts: {
      channel,
      models: [model],
      hit_rate: hitRate(today),
      week_hit_rate: hitRate(week),
      prompt_tokens: today.promptTokens,
    },
  }
}

function percent(rate: number | null): string {
  return `${Math.round(100 * (rate ?? 0))} %`
}

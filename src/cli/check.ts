/**
 * Gives commands a way to ask vendors: the gateway's own upstream client, for as long as
 * one command runs.
 */
import { systemClock } from '../base/clock.ts'
import type { RunCheck } from '../operations/channels.ts'
import type { Config } from '../settings.ts'

const checkTimeoutMs = 30_000

export async function withCheck<Result>(
  config: Pick<Config, 'connectTimeoutMs'>,
  work: (run: RunCheck) => Promise<Result>,
): Promise<Result> {
  const { checkChannel } = await import('../channels/check.ts')
  const { createUpstream } = await import('../channels/http-upstream.ts')
  const upstream = createUpstream({ connectTimeoutMs: config.connectTimeoutMs })
  try {
    return await work((check) =>
      checkChannel({ ...check, timeoutMs: checkTimeoutMs }, { upstream, clock: systemClock }),
    )
  } finally {
    await upstream.close()
  }
}

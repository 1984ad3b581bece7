/** Waits until the first attempt at a test message is over, and says how it ended. */
import { sleep, type Clock } from '../base/clock.ts'
import { alertEndpoints } from '../operations/alerts/endpoints.ts'
import type { DeliveryView } from '../operations/alerts/log.ts'
import type { QueuedTest } from '../operations/alerts/targets.ts'
import type { Outcome } from '../operations/operation.ts'
import { exitCodes, type Answer } from './command.ts'
import type { Run } from './run.ts'

/** A message to the target may be under way; that one and the test have a time limit of 10 s each. */
const testWaitMs = 30_000
const pollMs = 500

/** Reads the log until the first attempt is over, at most `testWaitMs`. */
export async function awaitDelivery(
  call: Run['call'],
  { target, delivery: id }: QueuedTest,
  clock: Clock,
): Promise<Outcome<DeliveryView | undefined>> {
  const untilMs = clock.monotonic() + testWaitMs
  for (;;) {
    const page = await call(alertEndpoints.deliveries, { target, limit: 100 })
    if (page.kind === 'refusal') return page
    const value = page.value.items.find((one) => one.id === id)
    const isTried = value !== undefined && (value.attempts > 0 || value.state !== 'waiting')
    if (isTried || clock.monotonic() >= untilMs) return { kind: 'done', value }
    await sleep(clock, pollMs)
  }
}

export function showTest(delivery: DeliveryView | undefined): Answer {
  const isDelivered = delivery?.state === 'delivered'
  return {
    json: delivery ?? null,
    text: isDelivered
      ? `Delivered: ${delivery.outcome}.`
      : delivery === undefined || delivery.attempts === 0
        ? 'No gateway has sent the message yet. Is one running? It is sent when one is.'
        : `Not delivered: ${delivery.outcome}. The gateway tries again.`,
    exitCode: isDelivered ? exitCodes.done : exitCodes.failed,
  }
}

/** The state of a model on a channel, as a gateway publishes it: healthy, but for what a test changes. */
import { noAttempts, type HealthLine } from '../../src/channels/health/health-line.ts'

export function healthLine(change: Partial<HealthLine> = {}): HealthLine {
  return {
    channel: 'main',
    model: 'm',
    vendor: 'alpha',
    rank: 0,
    mode: 'on',
    isUsable: true,
    sinceMs: 0,
    why: 'start',
    share: 1,
    wakeAtMs: undefined,
    restUntilMs: undefined,
    lastOkAtMs: undefined,
    running: 0,
    firstEventMs: undefined,
    usualFirstEventMs: undefined,
    waits: [],
    failures: [],
    recentAttempts: noAttempts,
    ...change,
  }
}

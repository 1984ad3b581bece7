/** Who takes an answer and who does not, judged by what the kernel says of it. */
import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { ClientOutput, type OutputSite } from './client-output.ts'

const limitMs = 60_000
const lookMs = 1_000
const site: OutputSite = { writeOut: () => undefined, onBehind: () => undefined }

interface Judged {
  /** When the client is first taken for one that takes nothing, in looks a second apart. */
  readonly stalledAtMs: number | undefined
  /** When the kernel was asked. */
  readonly askedAtMs: readonly number[]
}

/** Looks on for ten limits; what waits here never becomes less. */
function judge(unacknowledgedAt: (nowMs: number) => number | undefined): Judged {
  const askedAtMs: number[] = []
  let nowMs = 0
  const output = new ClientOutput(new Socket(), site, () => {
    askedAtMs.push(nowMs)
    return unacknowledgedAt(nowMs)
  })
  output.startWatching(nowMs)
  while (nowMs < 10 * limitMs) {
    nowMs += lookMs
    if (output.hasStalled(nowMs, limitMs)) return { stalledAtMs: nowMs, askedAtMs }
  }
  return { stalledAtMs: undefined, askedAtMs }
}

describe('a client of whose answer nothing leaves this process', () => {
  it('has stalled where the kernel gets rid of nothing either, and the kernel is asked twice', () => {
    assert.deepEqual(
      judge(() => 4_000_000),
      { stalledAtMs: 66_000, askedAtMs: [6_000, 66_000] },
    )
  })

  it('has not where the kernel gets rid of some within each limit', () => {
    const { stalledAtMs, askedAtMs } = judge((nowMs) => 4_000_000 - Math.floor(nowMs / 50_000))
    assert.equal(stalledAtMs, undefined)
    assert.ok(askedAtMs.length <= 10, `asked ${askedAtMs.length} times`)
  })

  it('has a whole limit from the last that was seen to go', () => {
    const { stalledAtMs } = judge((nowMs) => (nowMs < 50_000 ? 4_000_000 : 3_000_000))
    assert.equal(stalledAtMs, 126_000)
  })

  it('has a minute and a half more where the kernel does not tell', () => {
    assert.equal(judge(() => undefined).stalledAtMs, 150_000)
  })
})

/** Who takes an answer and who does not, judged by what the kernel says of it. */
import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { ClientOutput, type OutputOwner } from './client-output.ts'

const limitMs = 60_000
const lookMs = 1_000
const owner: OutputOwner = { writeOut: () => undefined, onBehind: () => undefined }

interface Judged {
  /** When the client is first reported as stalled, with one check per second. */
  readonly stalledAtMs: number | undefined
  /** When the kernel was asked. */
  readonly askedAtMs: readonly number[]
}

/** Looks on for ten limits; what waits here never becomes less. */
function judge(unacknowledgedAt: (nowMs: number) => number | undefined): Judged {
  const askedAtMs: number[] = []
  let nowMs = 0
  const output = new ClientOutput(new Socket(), owner, () => {
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

describe('a client to which no byte leaves this process', () => {
  it('has stalled where the kernel sends nothing either in two readings', () => {
    assert.deepEqual(
      judge(() => 4_000_000),
      { stalledAtMs: 66_000, askedAtMs: [6_000, 66_000] },
    )
  })

  it('has not stalled where the kernel sends some bytes within each limit', () => {
    const { stalledAtMs, askedAtMs } = judge((nowMs) => 4_000_000 - Math.floor(nowMs / 50_000))
    assert.equal(stalledAtMs, undefined)
    assert.ok(askedAtMs.length <= 10, `asked ${askedAtMs.length} times`)
  })

  it('has the whole limit from the last progress seen', () => {
    const { stalledAtMs } = judge((nowMs) => (nowMs < 50_000 ? 4_000_000 : 3_000_000))
    assert.equal(stalledAtMs, 126_000)
  })

  it('has not stalled where it has acknowledged all: then this process is behind', () => {
    assert.equal(judge(() => 0).stalledAtMs, undefined)
  })

  it('has 90 seconds more where the kernel has no figure', () => {
    assert.equal(judge(() => undefined).stalledAtMs, 150_000)
  })
})

/** A socket whose kernel sends on what it has when the test says so. */
class SlowSocket extends Socket {
  #sent: () => void = () => undefined

  override _write(_chunk: Buffer, _encoding: string, sent: () => void): void {
    this.#sent = sent
  }

  sendOn(): void {
    this.#sent()
  }
}

it('a client has not stalled where as much as left this process was written again', () => {
  const socket = new SlowSocket()
  const output = new ClientOutput(socket, owner, () => 4_000_000)
  const piece = Buffer.alloc(16_384)
  for (let nowMs = 0; nowMs < 10 * limitMs; nowMs += lookMs) {
    if (nowMs % 30_000 === 0) {
      socket.sendOn()
      output.write([piece])
      output.flush()
    }
    assert.equal(output.unsentBytes, piece.length)
    assert.equal(output.hasStalled(nowMs, limitMs), false, `at ${nowMs} ms`)
  }
})

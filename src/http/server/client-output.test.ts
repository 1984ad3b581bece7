/** Which client receives its answer and which does not, judged by the bytes that leave this process. */
import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { it } from 'node:test'
import { ClientOutput, type OutputOwner } from './client-output.ts'

const limitMs = 60_000
const lookMs = 1_000
const owner: OutputOwner = { writeOut: () => undefined, onBehind: () => undefined }

it('a client to which no byte leaves this process has stalled after the limit', () => {
  const output = new ClientOutput(new Socket(), owner)
  output.startWatching(0)
  assert.equal(output.hasStalled(limitMs - 1, limitMs), false)
  assert.equal(output.hasStalled(limitMs, limitMs), true)
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
  const output = new ClientOutput(socket, owner)
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

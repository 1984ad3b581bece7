/** A program that cannot be started is one that has ended, so that the supervisor tries again later. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { GatewayChild, type Launch } from './gateway-child.ts'

const launch: Launch = {
  command: process.execPath,
  args: [],
  environment: {},
  count: 2,
  listen: 1,
  adminListen: 1,
}

for (const [what, given, reason] of [
  ['its program does not exist', { command: '/nowhere/turnpike' }, /ENOENT/],
  ['the system cannot start it', { environment: { LONG: 'x'.repeat(2_000_000) } }, /E2BIG/],
] as const)
  it(`has ended where ${what}`, async () => {
    const clock = new ManualClock()
    const facts = { slot: 1, announces: false }
    const child = new GatewayChild({ ...launch, ...given }, facts, { clock, onCollect() {} })
    child.send({ kind: 'drain' })
    child.kill()
    const { code, reason: found } = await child.ended
    assert.equal(code, undefined)
    assert.match(found, reason)
  })

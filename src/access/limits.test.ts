import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { InvariantError, type Refusal } from '../base/errors.ts'
import { noKeyLimits } from '../base/key-limits.ts'
import { createRunningLimits } from './limits.ts'
import type { Principal } from './key.ts'

function principal(keyId: string, accountId: string): Principal {
  return {
    kind: 'principal',
    keyKind: 'client',
    keyId,
    accountId,
    allowedModels: undefined,
    priceMultiplierPpm: 1_000_000,
    holds: undefined,
    keyLimits: noKeyLimits,
  }
}

const first = principal('key_1', 'acc_1')
const second = principal('key_2', 'acc_1')
const other = principal('key_3', 'acc_2')

const bodies = { totalBytesMax: 800, bodyBytesMax: 100 }

function code(refusal: Refusal | undefined): string | undefined {
  return refusal?.code
}

describe('running exchanges', () => {
  it('are limited per key and per account, and free their place when they leave', () => {
    const limits = createRunningLimits({ perKeyMax: 2, perAccountMax: 3, bodies })
    assert.equal(limits.enter(first), undefined)
    assert.equal(limits.enter(first), undefined)
    assert.equal(code(limits.enter(first)), 'access.too_many_running')
    assert.equal(limits.enter(second), undefined)
    assert.match(limits.enter(second)?.message ?? '', /account already has 3/)
    assert.equal(limits.enter(other), undefined)
    assert.equal(limits.runningCount, 4)
    limits.leave(first)
    assert.equal(limits.enter(second), undefined)
    assert.equal(limits.enter(second)?.headers?.['retry-after'], '1')
  })

  it('are not limited by zero', () => {
    const limits = createRunningLimits({ perKeyMax: 0, perAccountMax: 0, bodies })
    for (let count = 0; count < 100; count++) assert.equal(limits.enter(first), undefined)
    assert.equal(limits.runningCount, 100)
  })

  it('cannot leave more often than they entered', () => {
    const limits = createRunningLimits({ perKeyMax: 1, perAccountMax: 1, bodies })
    limits.enter(first)
    limits.leave(first)
    assert.throws(() => limits.leave(first), InvariantError)
  })
})

describe('bytes of bodies under way', () => {
  const open = (changes = {}) =>
    createRunningLimits({ perKeyMax: 0, perAccountMax: 0, bodies: { ...bodies, ...changes } })

  it('are limited per key, per account and in all, and free their room once', () => {
    const limits = open()
    const rooms = [first, first, second, second].map((owner) => limits.openBodyRoom(owner))
    for (const room of rooms) assert.equal(room.reserve(100), undefined)
    assert.equal(code(limits.openBodyRoom(first).reserve(1)), 'access.too_many_bytes')
    const third = principal('key_4', 'acc_1')
    assert.match(limits.openBodyRoom(third).reserve(1)?.message ?? '', /of this account/)
    for (const keyId of ['key_5', 'key_6'])
      assert.equal(limits.openBodyRoom(principal(keyId, 'acc_2')).reserve(200), undefined)
    const last = limits.openBodyRoom(principal('key_7', 'acc_3'))
    assert.equal(code(last.reserve(1)), 'relay.overloaded')
    rooms[0]?.free()
    rooms[0]?.free()
    assert.equal(last.reserve(100), undefined)
    assert.equal(code(last.reserve(101)), 'relay.overloaded')
  })

  it('count the largest size of a body that grows', () => {
    const limits = open()
    const room = limits.openBodyRoom(first)
    for (const bytes of [10, 150, 100, 200]) assert.equal(room.reserve(bytes), undefined)
    assert.equal(code(room.reserve(201)), 'access.too_many_bytes')
    room.free()
    assert.equal(limits.openBodyRoom(first).reserve(200), undefined)
  })

  it('leave room for one body of the largest size, however little memory there is', () => {
    const limits = open({ totalBytesMax: 10 })
    assert.equal(limits.openBodyRoom(first).reserve(100), undefined)
    assert.equal(code(limits.openBodyRoom(first).reserve(1)), 'access.too_many_bytes')
  })
})

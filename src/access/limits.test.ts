import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { InvariantError, type Refusal } from '../base/errors.ts'
import { zeroPicos } from '../base/money.ts'
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
    keyDailyLimitPicos: zeroPicos,
  }
}

const first = principal('key_1', 'acc_1')
const second = principal('key_2', 'acc_1')
const other = principal('key_3', 'acc_2')

function code(refusal: Refusal | undefined): string | undefined {
  return refusal?.code
}

describe('running exchanges', () => {
  it('are limited per key and per account, and free their place when they leave', () => {
    const limits = createRunningLimits({ perKeyMax: 2, perAccountMax: 3 })
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
    const limits = createRunningLimits({ perKeyMax: 0, perAccountMax: 0 })
    for (let count = 0; count < 100; count++) assert.equal(limits.enter(first), undefined)
    assert.equal(limits.runningCount, 100)
  })

  it('cannot leave more often than they entered', () => {
    const limits = createRunningLimits({ perKeyMax: 1, perAccountMax: 1 })
    limits.enter(first)
    limits.leave(first)
    assert.throws(() => limits.leave(first), InvariantError)
  })
})

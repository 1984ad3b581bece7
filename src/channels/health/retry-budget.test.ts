import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from './health-event.ts'
import { fullBudget, mayFailOverInto, spendBudget, type RetryBudget } from './retry-budget.ts'

const second = 1_000

function spend(
  tokens: RetryBudget,
  outcome: Outcome,
  accounts: readonly string[],
  now = 0,
): RetryBudget {
  let left = tokens
  for (const accountId of accounts) left = spendBudget(left, { outcome, accountId }, now)
  return left
}

const times = (count: number, name: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => name(index))

test('one account’s failures close the way for it alone, and let it try again now and then', () => {
  const tokens = spend(
    fullBudget(100),
    'suspect',
    times(1_000, () => 'acc_one'),
  )
  assert.equal(mayFailOverInto(tokens, 'acc_one', 0), false)
  assert.equal(mayFailOverInto(tokens, 'acc_other', 0), true)
  assert.equal(mayFailOverInto(tokens, 'acc_one', 5 * second), true)
  const again = spend(tokens, 'suspect', ['acc_one'], 5 * second)
  assert.equal(mayFailOverInto(again, 'acc_one', 5 * second), false)
})

test('failures of two accounts close it for no other account, those of three do', () => {
  const oneOf = (count: number): RetryBudget =>
    spend(
      fullBudget(100),
      'suspect',
      times(1_000, (index) => `acc_${index % count}`),
    )
  assert.equal(mayFailOverInto(oneOf(2), 'acc_other', 0), true)
  assert.equal(mayFailOverInto(oneOf(3), 'acc_other', 0), false)
  assert.equal(mayFailOverInto(oneOf(3), 'acc_other', 260 * second), true)
})

test('an account that is served there again does not count among the failing any more', () => {
  let tokens = fullBudget(100)
  for (let round = 0; round < 1_000; round++) {
    tokens = spend(tokens, 'suspect', [`acc_${round % 3}`], round)
    tokens = spend(tokens, 'ok', [`acc_${round % 3}`], round)
  }
  assert.equal(mayFailOverInto(tokens, 'acc_other', 1_000), true)
})

test('requests of the gateway’s own spend what is everybody’s', () => {
  let tokens = fullBudget(100)
  for (let probe = 0; probe < 50; probe++)
    tokens = spendBudget(tokens, { outcome: 'hard', accountId: undefined }, 0)
  assert.equal(mayFailOverInto(tokens, 'acc_one', 0), false)
})

test('however many accounts fail, no more than some of them are remembered', () => {
  const tokens = spend(
    fullBudget(100),
    'suspect',
    times(10_000, (index) => `acc_${index}`),
  )
  assert.ok(tokens.accounts.size <= 256)
})

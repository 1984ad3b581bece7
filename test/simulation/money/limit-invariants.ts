/**
 * The balance with its credit line and the limits in USD of accounts and keys, worked out from the store's
 * rows and the open holds. A request is admitted where its likely cost is left in each, and at rest up to
 * exactly the rest. What a charge passes of what was left for its request is the most by which a scope may
 * be passed. Amounts that have been given back are left again, on the day and in the month of their charge.
 */
import assert from 'node:assert/strict'
import { newId } from '../../../src/base/id.ts'
import { utcDay, utcMonth } from '../../../src/base/clock.ts'
import { picos } from '../../../src/base/money.ts'
import type { HoldRequest } from '../../../src/ledger/ledger.ts'
import type { MoneyWorld } from './money-world.ts'

interface Limit {
  readonly name: string
  /** Zero = no limit. */
  readonly limitPicos: bigint
  /** An account or a key. */
  readonly owner: string
  /** As `SimStore.usedBy` takes it. */
  readonly period: string
}

type Asked = Omit<HoldRequest, 'exchangeId' | 'amountPicos' | 'likelyPicos'>

function limitsOf(world: MoneyWorld, asked: Asked): readonly Limit[] {
  const { accountId, keyId, keyLimits, atMs } = asked
  const day = utcDay(atMs)
  const ofKey = { owner: keyId }
  const { dailyPicos, monthlyPicos } = world.store.limitsOf(accountId)
  return [
    { name: 'account day', limitPicos: dailyPicos, owner: accountId, period: day },
    { name: 'account month', limitPicos: monthlyPicos, owner: accountId, period: utcMonth(atMs) },
    { name: 'key day', limitPicos: keyLimits.dailyPicos, ...ofKey, period: day },
    { name: 'key month', limitPicos: keyLimits.monthlyPicos, ...ofKey, period: utcMonth(atMs) },
    { name: 'key total', limitPicos: keyLimits.totalPicos, ...ofKey, period: '' },
  ].filter(({ limitPicos }) => limitPicos > 0n)
}

/** The balance and its line, as a scope of which nothing is used. */
function balanceOf(world: MoneyWorld, accountId: string): bigint {
  const row = world.store.balances().find((balance) => balance.accountId === accountId)
  return (row?.balancePicos ?? 0n) + world.store.limitsOf(accountId).creditLinePicos
}

/** Accounts and keys → the most by which one charge has passed what was left for its request. */
export type Passed = Map<string, bigint>

/** Of one admitted request: what was left in each scope that lasts, by its owner. */
export type Left = ReadonlyMap<string, bigint>

/** The ledger has just admitted this request, whose hold counts already. */
export function checkPlaced(world: MoneyWorld, request: HoldRequest): Left {
  const { accountId, keyId, keyLimits, likelyPicos, amountPicos } = request
  const booked = new Set(world.store.charges().map(({ exchangeId }) => exchangeId))
  const heldOf = (owner: string): bigint =>
    world.holds.heldOf(owner, (exchangeId) => booked.has(exchangeId)) - amountPicos
  const balance = balanceOf(world, accountId) - heldOf(accountId)
  // The ledger may not know yet what an operator has taken away.
  const taken = world.takenFrom(accountId)
  const scopes = limitsOf(world, request).map(({ name, limitPicos, owner, period }) => ({
    name,
    left: limitPicos - world.store.usedBy(owner, period) - heldOf(owner),
  }))
  for (const { name, left } of [...scopes, { name: 'balance', left: balance + taken }])
    assert.ok(
      left > 0n && left >= likelyPicos,
      `${likelyPicos} admitted with ${left} of the ${name}`,
    )
  const total = scopes.find(({ name }) => name === 'key total')?.left
  const ofKey = keyLimits.totalPicos === 0n || total === undefined ? [] : [[keyId, total] as const]
  return new Map([[accountId, balance], ...ofKey])
}

/** Nothing has passed its line by more than one charge has passed what was left for its request. */
export function checkPassed(world: MoneyWorld, passed: Passed): void {
  for (const { accountId, keyId, keyLimits } of world.principals) {
    const over = -balanceOf(world, accountId) - world.takenFrom(accountId)
    const most = passed.get(accountId) ?? 0n
    assert.ok(over <= most, `${accountId} has passed its line by ${over}, one request by ${most}`)
    if (keyLimits.totalPicos === 0n) continue
    const overKey = world.store.usedBy(keyId) - keyLimits.totalPicos
    const mostOfKey = passed.get(keyId) ?? 0n
    assert.ok(overKey <= mostOfKey, `${keyId} has used ${overKey} too much`)
  }
}

/** Nothing is held. */
export async function checkRoomAtRest(world: MoneyWorld): Promise<void> {
  await world.answered(world.ledger.refresh())
  const atMs = world.clock.now()
  for (const { accountId, keyId, keyLimits } of world.principals) {
    const asked = { accountId, keyId, keyLimits, atMs }
    const limits = limitsOf(world, asked)
    const left = [
      balanceOf(world, accountId),
      ...limits.map((limit) => limit.limitPicos - world.store.usedBy(limit.owner, limit.period)),
    ]
    const room = left.reduce((least, one) => (one < least ? one : least))
    const check = async (likely: bigint): Promise<string> => {
      const exchangeId = newId('ex', atMs)
      const costs = { likelyPicos: picos(likely), amountPicos: picos(likely * 2n) }
      const refusal = await world.answered(
        Promise.resolve(world.ledger.check({ ...asked, exchangeId, ...costs })),
      )
      return refusal?.kind ?? 'admitted'
    }
    if (room > 0n) assert.equal(await check(room), 'admitted', `${room} is left of ${keyId}`)
    assert.notEqual(await check(room < 0n ? 1n : room + 1n), 'admitted', `of ${keyId}, at ${room}`)
  }
}

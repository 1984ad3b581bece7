/**
 * The limits in USD of accounts and keys, worked out from the store's rows and the open holds: no admitted
 * request passes one, and at rest a request is admitted up to exactly the rest. Amounts that have been
 * given back are left again, on the day and in the month of their charge.
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

function limitsOf(
  world: MoneyWorld,
  {
    accountId,
    keyId,
    keyLimits,
    atMs,
  }: Omit<HoldRequest, 'exchangeId' | 'amountPicos' | 'likelyPicos'>,
): readonly Limit[] {
  const day = utcDay(atMs)
  const ofKey = { owner: keyId }
  const accountDay = world.store.dailyLimitOf(accountId)
  return [
    { name: 'account day', limitPicos: accountDay, owner: accountId, period: day },
    { name: 'key day', limitPicos: keyLimits.dailyPicos, ...ofKey, period: day },
    { name: 'key month', limitPicos: keyLimits.monthlyPicos, ...ofKey, period: utcMonth(atMs) },
    { name: 'key total', limitPicos: keyLimits.totalPicos, ...ofKey, period: '' },
  ].filter(({ limitPicos }) => limitPicos > 0n)
}

/** The ledger has just admitted this request, whose hold counts already. */
export function checkPlaced(world: MoneyWorld, request: HoldRequest): void {
  const limits = limitsOf(world, request)
  if (limits.length === 0) return
  const booked = new Set(world.store.charges().map(({ exchangeId }) => exchangeId))
  for (const { name, limitPicos, owner, period } of limits) {
    const used = world.store.usedBy(owner, period)
    const held = world.holds.heldOf(owner, (exchangeId) => booked.has(exchangeId))
    const sum = `${used} used and ${held} held of ${limitPicos}`
    assert.ok(used + held <= limitPicos, `a request was admitted beyond the ${name}: ${sum}`)
  }
}

/** Nothing is held. */
export async function checkRoomAtRest(world: MoneyWorld): Promise<void> {
  await world.answered(world.ledger.refresh())
  const atMs = world.clock.now()
  for (const { accountId, keyId, keyLimits } of world.principals) {
    const asked = { accountId, keyId, keyLimits, atMs }
    const limits = limitsOf(world, asked)
    const balance = world.store.balances().find((row) => row.accountId === accountId)
    const left = [
      balance?.balancePicos ?? 0n,
      ...limits.map((limit) => limit.limitPicos - world.store.usedBy(limit.owner, limit.period)),
    ]
    const room = left.reduce((least, one) => (one < least ? one : least))
    const check = async (amount: bigint): Promise<string> => {
      const exchangeId = newId('ex', atMs)
      const amountPicos = picos(amount)
      const request = { ...asked, exchangeId, amountPicos, likelyPicos: amountPicos }
      const refusal = await world.answered(Promise.resolve(world.ledger.check(request)))
      return refusal?.kind ?? 'admitted'
    }
    if (room > 0n) assert.equal(await check(room), 'admitted', `${room} is left of ${keyId}`)
    assert.notEqual(await check(room < 0n ? 1n : room + 1n), 'admitted', `of ${keyId}, at ${room}`)
  }
}

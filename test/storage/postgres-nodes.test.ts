/** Several nodes on one PostgreSQL: what one admits, charges or leaves behind when it dies, all know. */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { noKeyLimits, type KeyLimits } from '../../src/base/key-limits.ts'
import { picos } from '../../src/base/money.ts'
import type { Hold, HoldRefusal, HoldRequest } from '../../src/ledger/ledger.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import {
  addCredit,
  findDifferences,
  holdRequest,
  makeAccount,
  mustPlace,
  readBalance,
  recordOf,
} from './ledger-harness.ts'
import {
  openPostgresHarness,
  testLeaseMs,
  type PostgresHarness,
  type TestNode,
} from './postgres-harness.ts'

const rounds = 20
const parallel = 100

describe('several nodes on one PostgreSQL', () => {
  let server: PostgresServer
  let url: string
  let harness: PostgresHarness
  let one: TestNode
  let other: TestNode
  before(async () => {
    server = await startPostgres()
    url = await server.createDatabase()
  })
  after(() => server.close())
  beforeEach(async () => {
    harness = await openPostgresHarness(url)
    one = harness.ledger
    other = await harness.openNode()
  })
  afterEach(async () => {
    try {
      assert.deepEqual(await findDifferences(harness.database), [])
      assert.deepEqual(await heldDifferences(), [])
    } finally {
      await harness.close()
    }
  })

  /** Accounts whose held amount is not the sum of their holds. */
  function heldDifferences(): Promise<readonly object[]> {
    return harness.database.query(
      `SELECT id FROM account WHERE held_picos <>
         (SELECT COALESCE(SUM(amount_picos), 0) FROM hold WHERE account_id = account.id)`,
    )
  }

  /** Asks both nodes at once, in turns. */
  function placeOnBoth(
    count: number,
    request: (index: number) => HoldRequest,
  ): Promise<readonly (Hold | HoldRefusal)[]> {
    return Promise.all(
      Array.from({ length: count }, async (_, index) =>
        (index % 2 === 0 ? one : other).place(request(index)),
      ),
    )
  }

  const admitted = (placed: readonly (Hold | HoldRefusal)[]): readonly Hold[] =>
    placed.filter((answer) => answer.kind === 'hold')

  it('admit exactly as many as the balance covers, round after round', async () => {
    for (let round = 0; round < rounds; round++) {
      const fundsFor = 1 + (round % 9)
      const accountId = await makeAccount(harness, { balancePicos: BigInt(fundsFor) * 100n })
      const placed = await placeOnBoth(parallel, () => holdRequest(harness, accountId, 100n))
      assert.equal(admitted(placed).length, fundsFor)
    }
  })

  it('never hold more than there is when amounts differ, and refuse nothing that still fits', async () => {
    const accountId = await makeAccount(harness, { balancePicos: 1_000n })
    const placed = await placeOnBoth(parallel, (index) =>
      holdRequest(harness, accountId, BigInt((index * 37) % 90) + 1n),
    )
    const held = admitted(placed).reduce((sum, { amountPicos }) => sum + amountPicos, 0n)
    const left = 1_000n - held
    assert.ok(left >= 0n)
    if (left > 0n)
      assert.equal((await other.place(holdRequest(harness, accountId, left))).kind, 'hold')
    assert.equal(
      (await one.place(holdRequest(harness, accountId, 1n))).kind,
      'insufficient_balance',
    )
  })

  it('admit exactly what requests per minute allow, and say to the millisecond when to come', async () => {
    const accountId = await makeAccount(harness, { balancePicos: 10_000n, rpm: 7 })
    const ask = (): Promise<readonly (Hold | HoldRefusal)[]> =>
      placeOnBoth(60, () => holdRequest(harness, accountId, 1n))
    assert.equal(admitted(await ask()).length, 7)
    harness.clock.advance(59_999)
    assert.deepEqual(await other.place(holdRequest(harness, accountId, 1n)), {
      kind: 'rate_limited',
      scope: 'account',
      retryAfterMs: 1,
      rpm: 7,
      windowMinutes: 1,
    })
    harness.clock.advance(1)
    assert.equal(admitted(await ask()).length, 7)
  })

  it('keep the daily limits of account and key together', async () => {
    const limits = { balancePicos: 10_000n, dailyLimitPicos: 500n }
    const accountId = await makeAccount(harness, limits)
    const limited = { keyId: 'key_limited', keyLimits: { ...noKeyLimits, dailyPicos: picos(200n) } }
    const byKey = await placeOnBoth(60, () => holdRequest(harness, accountId, 100n, limited))
    assert.equal(admitted(byKey).length, 2)
    const byAccount = await placeOnBoth(60, () => holdRequest(harness, accountId, 100n))
    assert.equal(admitted(byAccount).length, 3)
  })

  it('keep all limits of a key together', async () => {
    const accountId = await makeAccount(harness, { balancePicos: 10_000n })
    const admittedWith = async (keyId: string, limits: Partial<KeyLimits>): Promise<number> => {
      const changes = { keyId, keyLimits: { ...noKeyLimits, ...limits } }
      return admitted(await placeOnBoth(100, () => holdRequest(harness, accountId, 30n, changes)))
        .length
    }
    assert.equal(await admittedWith('key_month', { monthlyPicos: picos(100n) }), 3)
    assert.equal(await admittedWith('key_total', { totalPicos: picos(149n) }), 4)
    assert.equal(await admittedWith('key_rate', { rpm: 7 }), 7)
    assert.equal(await admittedWith('key_month', { monthlyPicos: picos(129n) }), 1)
  })

  it('count the tokens of both toward the tokens per minute', async () => {
    const accountId = await makeAccount(harness, { balancePicos: 10_000n })
    await harness.database.query('UPDATE account SET tokens_per_minute = 60 WHERE id = $1', [
      accountId,
    ])
    for (const node of [one, other]) {
      const hold = await mustPlace(node, holdRequest(harness, accountId, 5n))
      await node.settle(hold, recordOf(hold, 5n, { endedAtMs: harness.clock.now() }))
    }
    const refused = { kind: 'token_limited', scope: 'account', tpm: 60, retryAfterMs: 60_000 }
    for (const node of [one, other])
      assert.deepEqual(await node.place(holdRequest(harness, accountId, 5n)), refused)
  })

  it('charge an exchange once, whichever node books it and however often', async () => {
    const accountId = await makeAccount(harness, { balancePicos: 1_000n })
    const hold = await mustPlace(one, holdRequest(harness, accountId, 100n))
    const record = recordOf(hold, 60n, { endedAtMs: harness.clock.now() })
    const repeats = Array.from({ length: 20 }, (_, index) => index % 2 === 0)
    await Promise.all(repeats.map((isOne) => (isOne ? one : other).settle(hold, record)))
    for (const ledger of [one, other]) {
      const figures = await ledger.usage(accountId, 'total', harness.clock.now())
      assert.equal(figures?.balancePicos, 940n)
      assert.equal(figures.byModel[0]?.requests, 1)
    }
  })

  it('charge and hold on the same accounts at once without a difference', async () => {
    const accountIds = await Promise.all(
      Array.from({ length: 7 }, () => makeAccount(harness, { balancePicos: 100_000n })),
    )
    await Promise.all(
      Array.from({ length: 400 }, async (_, index) => {
        const ledger = index % 2 === 0 ? one : other
        const accountId = accountIds[(index * 31) % 7] ?? ''
        const hold = await mustPlace(ledger, holdRequest(harness, accountId, 50n))
        await ledger.settle(hold, recordOf(hold, 7n, { endedAtMs: harness.clock.now() }))
      }),
    )
    let left = 0n
    for (const accountId of accountIds)
      left += (await one.usage(accountId, 'day', harness.clock.now()))?.balancePicos ?? 0n
    assert.equal(left, 700_000n - 400n * 7n)
    assert.equal(one.openHolds().count + other.openHolds().count, 0)
  })

  describe('when one dies', () => {
    /** Lets the leases of all other nodes run out, tick by tick as in real time. */
    async function outlive(survivors: readonly TestNode[]): Promise<void> {
      for (let tick = 0; tick < 12; tick++) {
        harness.clock.advance(testLeaseMs / 6)
        await Promise.all(survivors.map((ledger) => ledger.tick()))
      }
    }

    it('its holds are freed within the lease and recorded as expired; those of running nodes stay', async () => {
      const accountId = await makeAccount(harness, { balancePicos: 100n })
      await mustPlace(one, holdRequest(harness, accountId, 30n))
      await mustPlace(other, holdRequest(harness, accountId, 70n))
      await other.abandon()
      const third = await harness.openNode()
      await outlive([one, third])
      const [expired] = await harness.database.query(
        'SELECT COUNT(*) AS holds, SUM(amount_picos) AS held FROM expired_hold WHERE account_id = $1',
        [accountId],
      )
      assert.deepEqual({ ...expired }, { holds: 1n, held: 70n })
      assert.equal(
        (await third.place(holdRequest(harness, accountId, 71n))).kind,
        'insufficient_balance',
      )
      assert.equal((await third.place(holdRequest(harness, accountId, 70n))).kind, 'hold')
    })

    it('its holds are freed five sixths of the lease after its last renewal, and not before', async () => {
      const accountId = await makeAccount(harness, { balancePicos: 100n })
      await outlive([one, other])
      await mustPlace(other, holdRequest(harness, accountId, 100n))
      await other.tick()
      await other.abandon()
      const ask = async (): Promise<Hold | HoldRefusal> =>
        one.place(holdRequest(harness, accountId, 100n))
      // The survivor looks every sixth, so no hold waits for longer than the whole.
      harness.clock.advance((testLeaseMs / 6) * 5 - 1)
      await one.tick()
      assert.equal((await ask()).kind, 'insufficient_balance')
      harness.clock.advance(1)
      await one.tick()
      assert.equal((await ask()).kind, 'hold')
    })

    it('a late charge of it is booked once and frees nothing twice', async () => {
      const accountId = await makeAccount(harness, { balancePicos: 100n })
      const hold = await mustPlace(other, holdRequest(harness, accountId, 70n))
      await other.abandon()
      await outlive([one])
      await one.settle(hold, recordOf(hold, 50n, { endedAtMs: harness.clock.now() }))
      const figures = await one.usage(accountId, 'day', harness.clock.now())
      assert.equal(figures?.balancePicos, 50n)
      assert.equal((await one.place(holdRequest(harness, accountId, 50n))).kind, 'hold')
    })

    describe('its late charge, once another node has admitted the same money again,', () => {
      const funds = 10
      interface Settled {
        readonly holds: readonly Hold[]
        readonly outcomes: readonly string[]
        readonly settle: (hold: Hold) => Promise<void>
      }

      /** As if the other node had been paused for longer than its lease: its holds are freed. */
      async function pauseOther(accountId: string): Promise<void> {
        await harness.database.query(
          `UPDATE node SET lease_until_ms = 0
            WHERE boot IN (SELECT boot FROM hold WHERE account_id = $1)`,
          [accountId],
        )
        await one.tick()
        const left = await harness.database.query('SELECT * FROM hold WHERE account_id = $1', [
          accountId,
        ])
        assert.deepEqual(left, [])
      }

      /** Both nodes admit ten exchanges on money for ten; then the paused one settles its own. */
      async function settleLate(accountId: string): Promise<Settled> {
        const admitTen = (node: TestNode): Promise<readonly Hold[]> =>
          Promise.all(
            Array.from({ length: funds }, () =>
              mustPlace(node, holdRequest(harness, accountId, 100n)),
            ),
          )
        await outlive([one, other])
        const holds = await admitTen(other)
        await pauseOther(accountId)
        await admitTen(one)
        const settle = (hold: Hold): Promise<void> =>
          other.settle(hold, recordOf(hold, 90n, { endedAtMs: harness.clock.now() }))
        const settled = await Promise.allSettled(holds.map(settle))
        return { holds, settle, outcomes: settled.map((one) => outcomeOf(one)) }
      }

      const outcomeOf = (settled: PromiseSettledResult<void>): string =>
        settled.status === 'fulfilled'
          ? 'charged'
          : String((settled.reason as { readonly code?: unknown }).code)

      it('is withheld, marked and the cost of the operator', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 1_000n })
        const { outcomes } = await settleLate(accountId)
        assert.deepEqual(new Set(outcomes), new Set(['ledger.insufficient_balance']))
        assert.equal(await readBalance(harness, accountId), 1_000n)
        assert.equal(other.openHolds().count, 0)
        const rows = await harness.database.query(
          `SELECT ending, code, marks, amount_picos, operator_cost_picos, usage, price_lines
             FROM exchange WHERE account_id = $1`,
          [accountId],
        )
        assert.equal(rows.length, funds)
        for (const row of rows)
          assert.deepEqual(
            { ...row },
            {
              ending: 'failed',
              code: 'ledger.unavailable',
              marks: 'hold_expired',
              amount_picos: 0n,
              operator_cost_picos: 90n,
              usage: null,
              price_lines: '',
            },
          )
      })

      it('is withheld again where the answer of the store was lost and it is settled twice', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 1_000n })
        const { holds, settle } = await settleLate(accountId)
        const [hold] = holds
        assert.ok(hold !== undefined)
        await addCredit(harness, accountId, 1_000n)
        await assert.rejects(settle(hold), { code: 'ledger.insufficient_balance' })
        assert.equal(await readBalance(harness, accountId), 2_000n)
      })

      it('is booked as far as the balance less holds covers whole charges', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 1_200n })
        const { outcomes } = await settleLate(accountId)
        assert.equal(outcomes.filter((outcome) => outcome === 'charged').length, 2)
        assert.equal(await readBalance(harness, accountId), 1_020n)
      })

      it('is withheld also when it shares a batch with new holds and charges that have theirs', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 300n })
        await outlive([one, other])
        const freed = await mustPlace(other, holdRequest(harness, accountId, 100n))
        await pauseOther(accountId)
        await other.tick()
        await mustPlace(one, holdRequest(harness, accountId, 200n))
        const held = await mustPlace(other, holdRequest(harness, accountId, 100n))
        const endedAtMs = harness.clock.now()
        const [late, kept, next] = await Promise.allSettled([
          other.settle(freed, recordOf(freed, 60n, { endedAtMs })),
          other.settle(held, recordOf(held, 50n, { endedAtMs })),
          other.place(holdRequest(harness, accountId, 50n)),
        ])
        assert.deepEqual([late, kept].map(outcomeOf), ['ledger.insufficient_balance', 'charged'])
        assert.ok(next.status === 'fulfilled' && next.value.kind === 'hold')
        assert.equal(await readBalance(harness, accountId), 250n)
      })
    })

    it('a node that was only paused renews the lease with its next hold', async () => {
      const accountId = await makeAccount(harness, { balancePicos: 100n })
      harness.clock.advance(10 * testLeaseMs)
      assert.equal((await one.place(holdRequest(harness, accountId, 10n))).kind, 'hold')
    })

    it('a paused node renews the lease also when its next hold shares a batch with a charge', async () => {
      const accountId = await makeAccount(harness, { balancePicos: 100n })
      const hold = await mustPlace(one, holdRequest(harness, accountId, 10n))
      await harness.database.query('UPDATE node SET lease_until_ms = 0')
      const [, placed] = await Promise.all([
        one.settle(hold, recordOf(hold, 7n, { endedAtMs: harness.clock.now() })),
        one.place(holdRequest(harness, accountId, 93n)),
      ])
      assert.equal(placed.kind, 'hold')
      assert.equal(await readBalance(harness, accountId), 93n)
    })

    it('a node whose own lease has just begun frees nothing', async () => {
      const accountId = await makeAccount(harness, { balancePicos: 100n })
      await mustPlace(other, holdRequest(harness, accountId, 100n))
      await other.abandon()
      // As after an outage of the server: all leases have passed, and the first one is back.
      harness.clock.advance(10 * testLeaseMs)
      await one.tick()
      const answer = await one.place(holdRequest(harness, accountId, 100n))
      assert.equal(answer.kind, 'insufficient_balance')
    })
  })
})

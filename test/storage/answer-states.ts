/** What every ledger has to do with the state that answers make; amounts are bare pico-dollars. */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import {
  keptStateMs,
  openAnswerStates,
  removeExpiredStates,
  stateName,
  type AnswerStateKey,
  type FoundState,
} from '../../src/ledger/answer-state-store.ts'
import {
  findDifferences,
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

let testCount = 0

interface Made {
  readonly keys?: readonly AnswerStateKey[]
  readonly amountPicos?: bigint
  readonly channel?: string
}

export function describeAnswerStates(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let accountId: string
    let all: readonly AnswerStateKey[]
    let response: AnswerStateKey
    beforeEach(async () => {
      harness = await open()
      accountId = await makeAccount(harness, { balancePicos: 10_000n })
      // Suites share a store.
      const end = `${++testCount}_${accountId}`
      response = { kind: 'response', id: `resp_${end}` }
      const item = { kind: 'item', id: `msg_${end}` } as const
      all = [response, item, { kind: 'encrypted', id: `hash_${end}` }]
    })
    afterEach(async () => {
      try {
        assert.deepEqual(await findDifferences(harness.database), [])
      } finally {
        await harness.close()
      }
    })
    /** Settles an exchange whose answer has made these keys. */
    const answer = async (
      id: string,
      { keys = all, amountPicos = 1n, channel = 'alpha-main' }: Made = {},
    ): Promise<void> => {
      const hold = await mustPlace(harness.ledger, holdRequest(harness, id, amountPicos))
      const endedAtMs = harness.clock.now()
      const expiresAtMs = endedAtMs + keptStateMs
      const made = { keys, expiresAtMs, inputTokens: 7, outputTokens: 5 }
      await harness.ledger.settle(hold, recordOf(hold, amountPicos, { endedAtMs, made, channel }))
    }
    const find = (
      id: string,
      keys: readonly AnswerStateKey[] = all,
      vendor = 'alpha',
    ): Promise<ReadonlyMap<string, FoundState>> =>
      openAnswerStates(harness.database).find(keys, {
        vendor,
        accountId: id,
        nowMs: harness.clock.now(),
      })

    it('is there once its exchange is settled, also where nothing is charged', async () => {
      await answer(accountId)
      const free = { kind: 'response', id: `${response.id}_free` } as const
      await answer(accountId, { keys: [free], amountPicos: 0n })
      assert.equal((await find(accountId, [...all, free])).size, 4)
      const [item] = all.slice(1)
      assert.ok(item !== undefined)
      assert.deepEqual((await find(accountId, [item])).get(stateName(item)), {
        ...item,
        owner: 'own',
        channel: 'alpha-main',
        model: 'large-1',
        responseId: response.id,
        inputTokens: 7,
        outputTokens: 5,
      })
    })

    it('is there for each of many exchanges that end at once, beside new holds', async () => {
      const keys = Array.from({ length: 40 }, (_, index) => {
        return { kind: 'response', id: `${response.id}_${index}` } as const
      })
      await Promise.all([
        ...keys.map((key) => answer(accountId, { keys: [key] })),
        ...keys.map(() => mustPlace(harness.ledger, holdRequest(harness, accountId, 1n))),
      ])
      assert.equal((await find(accountId, keys)).size, keys.length)
    })

    it('is known as that of another account, of another kind or vendor not at all', async () => {
      const otherId = await makeAccount(harness)
      await answer(accountId)
      const foreign = await find(otherId)
      assert.deepEqual(
        [...foreign.values()].map(({ owner }) => owner),
        ['foreign', 'foreign', 'foreign'],
      )
      assert.equal((await find(accountId, all, 'beta')).size, 0)
      assert.equal((await find(accountId, [{ kind: 'item', id: 'other' }])).size, 0)
    })

    it('belongs to the account that has made it first, where a vendor gives one id twice', async () => {
      const [later, third] = [
        await makeAccount(harness, { balancePicos: 10n }),
        await makeAccount(harness),
      ]
      await answer(accountId, { channel: 'alpha-main' })
      harness.clock.advance(1)
      await answer(later, { channel: 'alpha-spare' })
      const seen = async (id: string): Promise<readonly unknown[]> => {
        const state = (await find(id)).get(stateName(response))
        return [state?.owner, state?.channel]
      }
      assert.deepEqual(await seen(accountId), ['own', 'alpha-main'])
      assert.deepEqual(await seen(later), ['made_again', 'alpha-spare'])
      assert.deepEqual(await seen(third), ['foreign', 'alpha-main'])
    })

    it('belongs to the latest answer of the account that has made it', async () => {
      await answer(accountId, { channel: 'alpha-main' })
      await answer(accountId, { keys: [...all, response], channel: 'alpha-spare' })
      assert.equal((await find(accountId)).get(stateName(response))?.channel, 'alpha-spare')
    })

    it('is kept for 30 days, and then removed', async () => {
      await answer(accountId)
      harness.clock.advance(keptStateMs - 1)
      await answer(accountId, { keys: [{ kind: 'response', id: `${response.id}_new` }] })
      assert.equal((await find(accountId)).size, 3)
      harness.clock.advance(1)
      assert.equal((await find(accountId)).size, 0)
      const nowMs = harness.clock.now()
      await removeExpiredStates(harness.database, { nowMs, pause: () => Promise.resolve() })
      const rows = await harness.database.query(
        'SELECT id FROM answer_state WHERE account_id = $1',
        [accountId],
      )
      assert.deepEqual(
        rows.map((row) => row['id']),
        [`${response.id}_new`],
      )
    })

    it('is forgotten with its answer, by its own account only', async () => {
      const otherId = await makeAccount(harness)
      await answer(accountId)
      await openAnswerStates(harness.database).forget(response.id, {
        vendor: 'alpha',
        accountId: otherId,
      })
      await openAnswerStates(harness.database).forget(response.id, { vendor: 'beta', accountId })
      assert.equal((await find(accountId)).size, 3)
      await openAnswerStates(harness.database).forget(response.id, { vendor: 'alpha', accountId })
      const left = [...(await find(accountId)).values()]
      assert.deepEqual(
        left.map(({ kind, owner }) => [kind, owner]),
        [['encrypted', 'own']],
      )
    })

    it('is bounded for each answer, and has no id that a store could not hold', async () => {
      const odd = ['', 'a b', 'ümlaut', 'nul\0', '\ud800', 'x'.repeat(513)]
      const many = Array.from({ length: 1_100 }, (_, index) => `msg_${index}`)
      const keys = [...odd, ...many].map((id) => ({ kind: 'item', id }) as const)
      await answer(accountId, { keys })
      assert.equal((await find(accountId, keys)).size, 1_000)
    })
  })
}

/**
 * What the board of channels shows of requests, over both stores: the last minutes as all running gateways
 * count them, and the day with its cost. Amounts are bare pico-dollars.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { newId } from '../../src/base/id.ts'
import { formatUsd, picos } from '../../src/base/money.ts'
import { Secret } from '../../src/base/secret.ts'
import { publishStates } from '../../src/channels/cluster/channel-states.ts'
import { appendCosts } from '../../src/channels/cluster/operator-cost-store.ts'
import type { ExchangeRecord } from '../../src/ledger/ledger.ts'
import { listChannels } from '../../src/operations/channels/channel-health.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { nodeTimeoutMs, readStoreTime, saveNode } from '../../src/storage/node-store.ts'
import { healthLine } from '../support/health-line.ts'
import { applyCatalogue } from '../support/operations.ts'
import {
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const catalogue = `
models:
  large-1: { vendor: alpha, price: { input: 1, output: 2 } }
  small-1: { vendor: alpha, price: { input: 1, output: 2 } }
channels:
  alpha-main:
    { vendor: alpha, url: https://a.example, credential: k, models: [large-1, small-1] }
  alpha-reserve:
    { vendor: alpha, url: https://b.example, credential: k, models: [large-1], rank: 1 }
`

export function describeChannelTraffic(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let context: OperationContext
    let accountId: string
    let nowMs: number
    beforeEach(async () => {
      harness = await open()
      const { database, clock } = harness
      context = {
        database,
        clock,
        actor: 'test',
        masterKey: () => new Secret('5'.repeat(64)),
        environment: () => undefined,
        runCheck: noCheck,
      }
      accountId = await makeAccount(harness, { balancePicos: 1_000_000n })
      await applyCatalogue(context, { text: catalogue })
      nowMs = await readStoreTime(database, clock)
    })
    afterEach(() => harness.close())

    const settle = async (facts: Partial<ExchangeRecord>): Promise<void> => {
      const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
      await harness.ledger.settle(hold, recordOf(hold, 10n, { endedAtMs: nowMs, ...facts }))
    }
    const addCheck = (model: string, amountPicos: bigint, atMs: number, isOwnCostKnown: boolean) =>
      harness.database.transact((transaction) =>
        appendCosts(transaction, [
          {
            id: newId('evt', atMs),
            atMs,
            node: undefined,
            channel: 'alpha-main',
            model,
            kind: 'check',
            usage: {},
            amountPicos: picos(amountPicos),
            isOwnCostKnown,
          },
        ]),
      )
    /** A gateway that has published these attempts of the last minutes. */
    const publish = (
      node: string,
      seenAtMs: number,
      attempts: readonly [channel: string, model: string, ended: number, failed: number][],
    ) =>
      harness.database.transact(async (transaction) => {
        await saveNode(transaction, {
          id: node,
          name: node,
          region: '',
          startedAtMs: seenAtMs,
          seenAtMs,
          endedAtMs: undefined,
          unlistedProxies: [],
          version: '1.0.0',
          commit: '',
          isDraining: false,
        })
        const states = attempts.map(([channel, model, ended, failed]) => ({
          node,
          line: { ...calm, channel, model, recentAttempts: { ended, failed } },
          publishedAtMs: seenAtMs,
        }))
        await publishStates(transaction, states)
      })
    const traffic = async () => {
      const { items } = valueOf(await listChannels(context, {}))
      return items.flatMap((channel) =>
        channel.traffic.map((one) => ({ place: `${channel.name} ${one.model}`, ...one })),
      )
    }

    it('is the sum of what all running gateways have tried in the last minutes', async () => {
      await publish('one', nowMs, [
        ['alpha-main', 'large-1', 60, 3],
        ['alpha-main', 'small-1', 5, 0],
        ['alpha-reserve', 'large-1', 10, 0],
      ])
      await publish('two', nowMs, [
        ['alpha-main', 'large-1', 20, 5],
        ['alpha-reserve', 'large-1', 10, 1],
      ])
      await publish('dead', nowMs - nodeTimeoutMs, [['alpha-main', 'large-1', 900, 900]])
      assert.deepEqual(
        (await traffic()).map(({ place, recent }) => [place, recent]),
        [
          ['alpha-main large-1', { attempts: 80, failed: 8, share: 0.8 }],
          ['alpha-main small-1', { attempts: 5, failed: 0, share: 1 }],
          ['alpha-reserve large-1', { attempts: 20, failed: 1, share: 0.2 }],
        ],
      )
    })

    it('is not known for the last minutes where no gateway is running', async () => {
      await publish('dead', nowMs - nodeTimeoutMs, [['alpha-main', 'large-1', 900, 900]])
      for (const { recent, today } of await traffic()) {
        assert.equal(recent, null)
        assert.deepEqual(today.share, null)
      }
    })

    it('has no share of a model without attempts', async () => {
      await publish('one', nowMs, [['alpha-main', 'large-1', 0, 0]])
      const [main] = await traffic()
      assert.deepEqual(main?.recent, { attempts: 0, failed: 0, share: null })
    })

    it('has the requests, errors and cost of the day, with checks; unknown costs apart', async () => {
      await settle({ ownCostPicos: picos(7n), isOwnCostKnown: true })
      await settle({ ownCostPicos: picos(2n), isOwnCostKnown: true, ending: 'upstream_cut' })
      await settle({ operatorCostPicos: picos(5n) })
      await settle({ channel: 'alpha-reserve', ownCostPicos: picos(1n), isOwnCostKnown: true })
      await settle({ endedAtMs: nowMs - 86_400_000, ownCostPicos: picos(1_000n) })
      await addCheck('large-1', 3n, nowMs, true)
      await addCheck('small-1', 4n, nowMs, false)
      await addCheck('large-1', 1_000n, nowMs - 86_400_000, true)
      const usd = (amount: bigint): string => formatUsd(picos(amount))
      assert.deepEqual(
        (await traffic()).map(({ place, today }) => ({ place, ...today })),
        [
          {
            place: 'alpha-main large-1',
            requests: 3,
            errors: 1,
            share: 0.75,
            checks: 1,
            own_cost_usd: usd(7n + 2n + 3n),
            estimated_cost_usd: usd(5n),
            unknown_cost_requests: 1,
          },
          {
            place: 'alpha-main small-1',
            requests: 0,
            errors: 0,
            share: null,
            checks: 1,
            own_cost_usd: '0',
            estimated_cost_usd: usd(4n),
            unknown_cost_requests: 0,
          },
          {
            place: 'alpha-reserve large-1',
            requests: 1,
            errors: 0,
            share: 0.25,
            checks: 0,
            own_cost_usd: usd(1n),
            estimated_cost_usd: '0',
            unknown_cost_requests: 0,
          },
        ],
      )
    })
  })
}

const calm = healthLine({ channel: '', model: '' })

/**
 * The figures of yesterday and today by hour, over both stores. Amounts are bare pico-dollars; every exchange
 * counts one request.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { newId } from '../../src/base/id.ts'
import { formatUsd, parseUsd, picos } from '../../src/base/money.ts'
import { Secret } from '../../src/base/secret.ts'
import { appendCosts } from '../../src/channels/cluster/operator-cost-store.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { startMoments, type Moments } from '../../src/operations/reports/moments.ts'
import { showOverview } from '../../src/operations/reports/overview.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { refundRequest } from '../support/operations.ts'
import {
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

export function describeReportHours(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let context: OperationContext
    let accountId: string
    let moments: Moments | undefined
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
    })
    afterEach(async () => {
      await moments?.close()
      moments = undefined
      await harness.close()
    })

    const charge = async (amountPicos: bigint): Promise<string> => {
      const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, amountPicos))
      const endedAtMs = harness.clock.now()
      const facts = { endedAtMs, isOwnCostKnown: true, ownCostPicos: picos(1n) }
      await harness.ledger.settle(hold, recordOf(hold, amountPicos, facts))
      return hold.exchangeId
    }
    const addCheck = () =>
      harness.database.transact((transaction) =>
        appendCosts(transaction, [
          {
            id: newId('evt', harness.clock.now()),
            atMs: harness.clock.now(),
            node: undefined,
            channel: 'alpha-main',
            model: 'large-1',
            kind: 'check',
            usage: {},
            amountPicos: picos(3n),
            isOwnCostKnown: true,
          },
        ]),
      )
    const record = (): void => {
      const { clock, database } = harness
      const onError = (error: unknown): void => assert.fail(String(error))
      moments = startMoments({ clock, database, onError })
    }
    /** Goes on to a time of the day, and waits for the moments on the way. */
    const goTo = async (hour: number, minute = 0): Promise<void> => {
      const { clock } = harness
      const untilMs = Math.floor(clock.now() / dayMs) * dayMs + hour * hourMs + minute * minuteMs
      const isRecording = moments !== undefined
      while (clock.now() < untilMs) {
        const stepMs = 15 * minuteMs - (clock.now() % (15 * minuteMs))
        clock.advance(Math.min(stepMs, untilMs - clock.now()))
        await moments?.close()
        if (isRecording) record()
      }
    }
    const overview = async () => valueOf(await showOverview(context, {}))

    it('have their own requests and checks, and add up to the days', async () => {
      await goTo(24)
      record()
      await goTo(2, 20)
      const early = await charge(10n)
      await goTo(3, 50)
      await charge(20n)
      await addCheck()
      await goTo(23, 55)
      await charge(5n)
      await goTo(24)
      await goTo(1, 10)
      await charge(7n)
      await refundRequest(context, { request: early, amount_usd: formatUsd(picos(4n)) })
      const { hours, today, yesterday } = await overview()
      assert.equal(hours.length, 26)
      assert.ok(hours.every((hour) => hour.is_exact))
      const busy = hours.filter(
        ({ requests, refunded_usd }) => requests > 0 || refunded_usd !== '0',
      )
      assert.deepEqual(
        busy.map((hour) => [
          hour.day === today.day ? 'today' : 'yesterday',
          `${hour.from.slice(11, 16)}-${hour.until.slice(11, 16)}`,
          hour.requests,
          hour.tokens,
          parseUsd(hour.revenue_usd),
          parseUsd(hour.margin_usd ?? ''),
          hour.first_event_p50_ms,
        ]),
        [
          ['yesterday', '02:00-03:00', 1, 35, 10n, 9n, 250],
          ['yesterday', '03:00-04:00', 1, 35, 20n, 20n - 1n - 3n, 250],
          // The refund of a charge of yesterday, too.
          ['yesterday', '23:00-00:00', 1, 35, 5n, 5n - 1n - 4n, 250],
          ['today', '01:00-01:10', 1, 35, 7n, 6n, 250],
        ],
      )
      for (const day of [yesterday, today]) {
        const ofDay = hours.filter((hour) => hour.day === day.day)
        for (const figure of ['revenue_usd', 'refunded_usd', 'known_margin_usd'] as const)
          assert.equal(
            ofDay.reduce((sum, hour) => sum + (parseUsd(hour[figure]) ?? 0n), 0n),
            parseUsd(day[figure]),
            `${day.day} ${figure}`,
          )
      }
    })

    it('say where no gateway recorded the figures', async () => {
      await goTo(24)
      record()
      await goTo(1, 30)
      await moments?.close()
      moments = undefined
      await charge(10n)
      await goTo(4, 20)
      record()
      await goTo(5, 5)
      const { hours } = await overview()
      const { day } = hours.at(-1) ?? assert.fail()
      assert.deepEqual(
        hours
          .filter((hour) => hour.day === day)
          .map(({ from, requests, is_exact }) => [from.slice(11, 13), requests, is_exact]),
        [
          ['00', 0, true],
          ['01', 0, false],
          ['02', 0, false],
          ['03', 0, false],
          ['04', 1, false],
          ['05', 0, true],
        ],
      )
    })
  })
}

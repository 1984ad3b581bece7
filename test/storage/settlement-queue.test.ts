/** When the settlement queue commits: an exchange alone at once, those of a steady flow together. */
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { picos } from '../../src/base/money.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { recordOf } from './ledger-harness.ts'
import {
  SettlementQueue,
  type CommitOutcome,
  type Settlement,
} from '../../src/ledger/settlement-queue.ts'

const secondBatchSize = 20
/** More turns of the event loop than a batch waits for. */
const manyTurns = 40

let clock: ManualClock
let queue: SettlementQueue<void>
/** The size of each commit. */
let commits: number[]
let finish: (() => void)[]
/** Exchanges that run and may end soon, with those that wait. */
let soonCount: number
let otherCount: number
let lastId: number

beforeEach(() => {
  clock = new ManualClock()
  commits = []
  finish = []
  soonCount = 100
  otherCount = 0
  lastId = 0
  queue = new SettlementQueue<void>({
    clock,
    commit(batch: readonly Settlement[], done: (outcome: CommitOutcome<void>) => void) {
      commits.push(batch.length)
      finish.push(() => done({ decidedCount: batch.length, refused: new Map(), booked: undefined }))
    },
    batchSizeMax: 50,
    secondBatchSize,
    soonCount: () => soonCount,
    otherCount: () => otherCount,
    settleTimeoutMs: 1_000,
    retryMs: { first: 10, last: 10 },
    closeTimeoutMs: 0,
    onBooked: () => undefined,
    onRefused: () => undefined,
    onRecovered: () => undefined,
  })
})

function end(): void {
  const exchangeId = `ex_${++lastId}`
  const hold = {
    kind: 'hold',
    exchangeId,
    accountId: 'acc_1',
    keyId: 'key_1',
    amountPicos: picos(1n),
    isUncovered: false,
  } as const
  void queue.add(recordOf(hold, 1n, { endedAtMs: clock.now() }))
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < manyTurns; turn++) await nextTurn()
}

/** Commits what waits, and answers; returns the sizes of the commits. */
async function settle(): Promise<readonly number[]> {
  await turns()
  for (const done of finish.splice(0)) done()
  return commits.splice(0)
}

/** Exchanges that end one each millisecond, each committed before the next one. */
async function flow(): Promise<void> {
  soonCount = 0
  for (let count = 0; count < 8; count++) {
    clock.advance(1)
    end()
    await settle()
  }
  soonCount = 100
}

describe('an exchange that ends', () => {
  it('is committed at once where no others end', async () => {
    end()
    assert.deepEqual(await settle(), [1])
  })

  it('is committed at once where others end seldom', async () => {
    for (let count = 0; count < 20; count++) {
      clock.advance(4)
      end()
      assert.deepEqual(await settle(), [1])
    }
  })

  it('is committed at once where hardly any others run, however many ended before', async () => {
    await flow()
    soonCount = 5
    end()
    assert.deepEqual(await settle(), [1])
  })

  it('waits at most 3 ms for others where they end all the time', async () => {
    await flow()
    end()
    assert.deepEqual(await settle(), [])
    clock.advance(1)
    end()
    clock.advance(1)
    end()
    assert.deepEqual(await settle(), [])
    clock.advance(1)
    assert.deepEqual(await settle(), [3])
  })

  it('does not wait on when a batch is full', async () => {
    await flow()
    end()
    assert.deepEqual(await settle(), [])
    for (let count = 1; count < secondBatchSize; count++) end()
    assert.deepEqual(await settle(), [secondBatchSize])
  })

  it('does not wait on when a request is about to begin', async () => {
    await flow()
    end()
    assert.deepEqual(await settle(), [])
    otherCount = 1
    queue.itemCame()
    assert.deepEqual(await settle(), [1])
  })

  it('does not wait again for what has waited for a commit', async () => {
    await flow()
    end()
    await turns()
    clock.advance(3)
    await turns()
    assert.deepEqual(commits.splice(0), [1])
    end()
    clock.advance(3)
    await turns()
    assert.deepEqual(commits, [], 'the first commit is still under way')
    for (const done of finish.splice(0)) done()
    assert.deepEqual(await settle(), [1])
  })

  it('is committed when the queue closes', async () => {
    await flow()
    end()
    assert.deepEqual(await settle(), [])
    const closed = queue.close()
    assert.deepEqual(await settle(), [1])
    await closed
  })
})

/**
 * What the tests of a crash while charges gather do on either store: a process is killed (kill -9) at a
 * step of the commit. Then its batch is in the store as a whole or not at all, every acknowledged charge
 * is there, and the books are right.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { it } from 'node:test'
import { whileChargesWait } from '../support/money.ts'
import { findDifferences, makeAccount, type LedgerHarness } from './ledger-harness.ts'

const script = join(import.meta.dirname, 'gathering-process.ts')
const chargePicos = 7n
/** Charges before the batch, and in it; see gathering-process.ts. */
const before = 8
const batch = 3

interface Step {
  readonly name: string
  readonly step: 'gathering' | 'in_flight' | 'committed' | 'next_gathering'
  /** How many charges the store may have afterwards. */
  readonly charged: readonly number[]
  readonly acknowledged: number
}

const steps: readonly Step[] = [
  {
    name: 'while its charges gather',
    step: 'gathering',
    charged: [before],
    acknowledged: before,
  },
  {
    // PostgreSQL may finish a statement whose client is gone.
    name: 'while the batch is in flight',
    step: 'in_flight',
    charged: [before, before + batch],
    acknowledged: before,
  },
  {
    name: 'after the commit, before it acknowledges the batch',
    step: 'committed',
    charged: [before + batch],
    acknowledged: before,
  },
  {
    name: 'between two batches, while the second one gathers',
    step: 'next_gathering',
    charged: [before + batch],
    acknowledged: before + batch,
  },
]

export interface CrashStore {
  readonly harness: LedgerHarness
  readonly storeUrl: string
}

/** One test for each step; `open` gives the same store to all of them. */
export function testGatheringCrashes(open: () => CrashStore): void {
  for (const { name, step, charged, acknowledged } of steps)
    it(`${name}: no charge is lost, doubled or in parts`, async () => {
      const { harness, storeUrl } = open()
      const accountId = await makeAccount(harness, { balancePicos: 10_000n })
      const said = await runUntilKilled({ harness, storeUrl, accountId, step })
      const { booked, balancePicos } = await readBooks(harness, accountId)
      assert.ok(charged.includes(booked.length), `${booked.length} charges`)
      // The earlier ones, as a batch takes them.
      assert.deepEqual(booked.toSorted(), said.ended.slice(0, booked.length).toSorted())
      assert.equal(said.acknowledged.length, acknowledged)
      for (const id of said.acknowledged) assert.ok(booked.includes(id), `${id} is lost`)
      assert.equal(balancePicos, 10_000n - chargePicos * BigInt(booked.length))
      assert.deepEqual(await findDifferences(harness.database), [])
    })
}

/** Of one moment: a server may still finish the batch. */
function readBooks({ database }: LedgerHarness, accountId: string) {
  return database.snapshot(async (snapshot) => {
    const charges = await snapshot.query(
      "SELECT reference FROM entry WHERE account_id = $1 AND kind = 'charge'",
      [accountId],
    )
    const [account] = await snapshot.query('SELECT balance_picos FROM account WHERE id = $1', [
      accountId,
    ])
    const booked = charges.map((row) => String(row['reference']))
    return { booked, balancePicos: account?.['balance_picos'] }
  })
}

async function runUntilKilled({
  harness,
  storeUrl,
  accountId,
  step,
}: CrashStore & { readonly accountId: string; readonly step: Step['step'] }) {
  const child = spawn(process.execPath, [script, storeUrl, accountId, step], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const lines: string[] = []
  const reader = createInterface(child.stdout)[Symbol.asyncIterator]()
  const readTo = async (last: string | undefined): Promise<void> => {
    for (;;) {
      const { value, done } = await reader.next()
      if (done === true) return assert.equal(last, undefined, 'the process died too early')
      lines.push(value)
      if (value === last) return
    }
  }
  await readTo('flowing')
  if (step === 'in_flight')
    await whileChargesWait(harness.database, async () => {
      child.stdin.write('\n')
      await readTo('sent')
      child.kill('SIGKILL')
      await readTo(undefined)
    })
  else {
    child.stdin.write('\n')
    await readTo(undefined)
  }
  assert.deepEqual(await ended, [null, 'SIGKILL'])
  const idsOf = (word: string): readonly string[] =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
  return { ended: idsOf('ended'), acknowledged: idsOf('charged') }
}

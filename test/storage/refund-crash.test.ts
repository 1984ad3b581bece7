/**
 * A process that refunds is killed (kill -9) again and again while the account is charged. Each charge is
 * then refunded once, every acknowledged refund is there, and the figures are exact.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { startPostgres } from '../support/postgres.ts'
import { openEmbedded } from './embedded-harness.ts'
import {
  findDifferences,
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'
import { openPostgresHarness } from './postgres-harness.ts'

const script = join(import.meta.dirname, 'refunding-process.ts')
const chargeCount = 120
const chargePicos = 7n
/** How many refunds each process acknowledges before it is killed; the last one runs to its end. */
const killedAfter = [1, 3, 10, 25, undefined]

test('a refund is whole or absent after kill -9, on the embedded store', async () => {
  const harness = await openEmbedded()
  try {
    await crashAndRefund(harness, `sqlite:${harness.path}`)
  } finally {
    await harness.close()
  }
})

test('a refund is whole or absent after kill -9, on PostgreSQL', async () => {
  const server = await startPostgres()
  try {
    const url = await server.createDatabase()
    const harness = await openPostgresHarness(url)
    try {
      await crashAndRefund(harness, url)
    } finally {
      await harness.close()
    }
  } finally {
    await server.close()
  }
})

async function crashAndRefund(harness: LedgerHarness, storeUrl: string): Promise<void> {
  const { database, clock, ledger } = harness
  const accountId = await makeAccount(harness, { balancePicos: 10_000n })
  const chargeOne = async (): Promise<void> => {
    const hold = await mustPlace(ledger, holdRequest(harness, accountId, 9n))
    await ledger.settle(hold, recordOf(hold, chargePicos, { endedAtMs: clock.now() }))
  }
  for (let count = 0; count < chargeCount; count++) await chargeOne()
  const acknowledged = new Set<string>()
  for (const count of killedAfter) {
    const [printed] = await Promise.all([runRefunds(storeUrl, accountId, count), chargeOne()])
    for (const exchangeId of printed) {
      assert.ok(!acknowledged.has(exchangeId), `${exchangeId} was refunded twice`)
      acknowledged.add(exchangeId)
    }
    assert.deepEqual(await findDifferences(database), [])
    const stored = await refundedOf(harness, accountId)
    for (const exchangeId of acknowledged) assert.ok(stored.has(`refund:${exchangeId}`))
  }
  // The last process refunded at least all that were charged when it began.
  const refunded = await refundedOf(harness, accountId)
  assert.ok(refunded.size >= chargeCount + killedAfter.length - 1, `${refunded.size} refunds`)
  const charged = BigInt(chargeCount + killedAfter.length - refunded.size) * chargePicos
  const usage = await ledger.usage(accountId, 'total', clock.now())
  assert.equal(usage?.balancePicos, 10_000n - charged)
  assert.deepEqual(
    usage.byModel.map(({ requests, costPicos }) => [requests, costPicos]),
    [[chargeCount + killedAfter.length, charged]],
  )
}

async function refundedOf(
  { database }: LedgerHarness,
  accountId: string,
): Promise<ReadonlySet<string>> {
  const rows = await database.query(
    "SELECT reference, amount_picos FROM entry WHERE account_id = $1 AND kind = 'refund'",
    [accountId],
  )
  for (const row of rows) assert.equal(row['amount_picos'], chargePicos)
  return new Set(rows.map((row) => String(row['reference'])))
}

/** Returns what the process has printed. It is killed after `count` lines; undefined = it ends by itself. */
async function runRefunds(
  storeUrl: string,
  accountId: string,
  count: number | undefined,
): Promise<readonly string[]> {
  const child = spawn(process.execPath, [script, storeUrl, accountId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) {
    lines.push(line)
    if (lines.length === count) child.kill('SIGKILL')
  }
  const [code] = (await ended) as [number | null]
  if (count === undefined) assert.equal(code, 0)
  return lines
}

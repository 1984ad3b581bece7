/**
 * A process that ends exchanges all the time, so that its charges gather, and that dies at one step of
 * the commit, for crash tests. Time moves only where it says so. Prints one line for each exchange that
 * ends (`ended ID`), each acknowledged charge (`charged ID`), and the steps at which the test acts.
 */
import assert from 'node:assert/strict'
import { writeSync } from 'node:fs'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { newId } from '../../src/base/id.ts'
import { noKeyLimits } from '../../src/base/key-limits.ts'
import { picos } from '../../src/base/money.ts'
import { createEmbeddedLedger } from '../../src/ledger/embedded/ledger.ts'
import type { Hold, Ledger } from '../../src/ledger/ledger.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { mustPlace, recordOf } from './ledger-harness.ts'
import { openPostgresHarness } from './postgres-harness.ts'

const [storeUrl, accountId, step] = process.argv.slice(2)
if (storeUrl === undefined || accountId === undefined || step === undefined)
  throw new Error('usage: STORE ACCOUNT STEP')

const flowCount = 8
const batchCount = 3
/** More than a batch waits for, and enough for a statement to leave the process. */
const manyTurns = 60

let diesAtCommit = false
const onCommit = (): void => {
  if (diesAtCommit) die()
}
const { ledger, clock } = await open(storeUrl)
const holds = await placeMany(30)
const ending: Promise<void>[] = []

for (let count = 0; count < flowCount; count++) {
  clock.advance(1)
  end()
  await turns()
}
clock.advance(3)
await Promise.all(ending)
print('flowing')
await once(process.stdin, 'data')

await gather()
if (step === 'gathering') die()
if (step === 'committed') diesAtCommit = true
clock.advance(3)
await turns()
print('sent')
await Promise.all(ending)
await gather()
die()

async function open(url: string): Promise<{ ledger: Ledger; clock: ManualClock }> {
  if (!url.startsWith('sqlite:')) return openPostgresHarness(url, { onCommit })
  const clock = new ManualClock()
  const fail = (error: Error): never => {
    throw error
  }
  const path = url.slice('sqlite:'.length)
  return {
    clock,
    ledger: await createEmbeddedLedger({ path, clock, onFatal: fail, onFault: fail, onCommit }),
  }
}

async function placeMany(count: number): Promise<Hold[]> {
  const atMs = clock.now()
  return Promise.all(
    Array.from({ length: count }, () =>
      mustPlace(ledger, {
        exchangeId: newId('ex', atMs),
        accountId: accountId ?? '',
        keyId: 'key_one',
        amountPicos: picos(10n),
        likelyPicos: picos(10n),
        keyLimits: noKeyLimits,
        atMs,
      }),
    ),
  )
}

function end(): void {
  const hold = holds.pop()
  assert.ok(hold !== undefined)
  print(`ended ${hold.exchangeId}`)
  const charged = ledger.settle(hold, recordOf(hold, 7n, { endedAtMs: clock.now() }))
  ending.push(charged.then(() => print(`charged ${hold.exchangeId}`)))
}

/** Ends a few exchanges, which wait for more. */
async function gather(): Promise<void> {
  const timers = clock.pendingCount
  for (let count = 0; count < batchCount; count++) end()
  await turns()
  assert.equal(clock.pendingCount, timers + 1, 'a timer ends the gathering')
  print('gathering')
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < manyTurns; turn++) await nextTurn()
}

/** Synchronous, so that everything printed is out before the process dies. */
function print(line: string): void {
  writeSync(1, `${line}\n`)
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

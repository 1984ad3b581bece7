/**
 * A process that charges as fast as it can until it is killed, for crash tests. Prints an exchange
 * id, one per line, only after its charge was acknowledged.
 */
import { writeSync } from 'node:fs'
import { systemClock } from '../../src/base/clock.ts'
import { newId } from '../../src/base/id.ts'
import { noKeyLimits } from '../../src/base/key-limits.ts'
import { picos } from '../../src/base/money.ts'
import { createEmbeddedLedger } from '../../src/ledger/embedded/ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { mustPlace, recordOf } from './ledger-harness.ts'

const [path, accountId] = process.argv.slice(2)
if (path === undefined || accountId === undefined) throw new Error('usage: PATH ACCOUNT')

const ledger = await createEmbeddedLedger({
  path,
  clock: systemClock,
  onFatal: (error) => {
    throw error
  },
  onFault: (error) => {
    throw error
  },
})
await Promise.all(Array.from({ length: 40 }, () => chargeForEver(ledger, accountId)))

/** Synchronous, so that a line is out before the next charge; waits for a reader that is behind. */
function print(line: string): void {
  for (;;) {
    try {
      writeSync(1, line)
      return
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'EAGAIN') throw error
    }
  }
}

async function chargeForEver(ledger: Ledger, accountId: string): Promise<void> {
  for (;;) {
    const atMs = systemClock.now()
    const exchangeId = newId('ex', atMs)
    const amountPicos = picos(10n)
    const keyId = 'key_one'
    const limits = { keyLimits: noKeyLimits, atMs }
    const money = { amountPicos, likelyPicos: amountPicos }
    const request = { exchangeId, accountId, keyId, ...money, ...limits }
    const hold = await mustPlace(ledger, request)
    await ledger.settle(hold, recordOf(hold, 7n, { endedAtMs: atMs }))
    print(`${exchangeId}\n`)
  }
}

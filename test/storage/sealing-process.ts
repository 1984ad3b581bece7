/**
 * A process that seals, transaction by transaction, until it is killed, for crash tests. Prints a line after
 * each transaction, and `sealed` at its end.
 */
import { writeSync } from 'node:fs'
import { Secret } from '../../src/base/secret.ts'
import { sealHours } from '../../src/ledger/proof/sealing.ts'
import { openStore } from '../../src/storage/open.ts'

const [url, now] = process.argv.slice(2)
if (url === undefined || now === undefined) throw new Error('usage: STORE NOW')

const database = await openStore(url)
await sealHours(database, {
  nowMs: Number(now),
  masterKey: new Secret('5'.repeat(64)),
  pause: () => Promise.resolve(void writeSync(1, 'page\n')),
})
writeSync(1, 'sealed\n')
await database.close()

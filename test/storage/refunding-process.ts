/**
 * A process that refunds every charge of an account, one after the other, until it is killed, for crash
 * tests. Prints an exchange id, one per line, only after its refund was acknowledged as a new one.
 */
import { writeSync } from 'node:fs'
import { systemClock } from '../../src/base/clock.ts'
import { Secret } from '../../src/base/secret.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { openStore } from '../../src/storage/open.ts'
import { refundRequest } from '../support/operations.ts'

const [url, accountId] = process.argv.slice(2)
if (url === undefined || accountId === undefined) throw new Error('usage: STORE ACCOUNT')

const database = await openStore(url)
const context = {
  database,
  clock: systemClock,
  actor: 'test',
  masterKey: () => new Secret('5'.repeat(64)),
  environment: () => undefined,
  runCheck: noCheck,
}
const charges = await database.query(
  "SELECT reference FROM entry WHERE account_id = $1 AND kind = 'charge' ORDER BY sequence",
  [accountId],
)
for (const { reference } of charges) {
  const { repeated } = await refundRequest(context, { request: String(reference) })
  if (!repeated) writeSync(1, `${String(reference)}\n`)
}
await database.close()

/**
 * Charges gather where answers end all the time; a request that is alone waits for nobody. The clock stands
 * still while a request runs, so a charge that waited would never be committed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasEnd } from '../support/answers.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { assertClean } from '../support/money.ts'
import { sendAsk, type Ask } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'
import { startPostgres } from '../support/postgres.ts'

/** More than tell the gateway that charges come fast. */
const requests = 24

async function sendOneByOne(storeUrl?: string): Promise<void> {
  const clock = new ManualClock()
  const gateway = await scenario({ clock, ...(storeUrl !== undefined && { storeUrl }) })
  try {
    for (let count = 0; count < requests; count++) {
      // One each millisecond: fast enough to gather.
      clock.advance(1)
      const ask: Ask = { format: 'chat', isStream: count % 2 === 0 }
      assert.ok(hasEnd(await sendAsk(gateway.url, gateway.account.key, ask), ask))
    }
    assert.equal((await gateway.ended(gateway.account, requests)).length, requests)
    await assertClean(gateway)
  } finally {
    await gateway.close()
  }
}

test('a request that is alone gets its end without a wait for other charges', () => sendOneByOne())

test('a request that is alone gets its end without a wait, on PostgreSQL', async () => {
  const server = await startPostgres()
  try {
    await sendOneByOne(await server.createDatabase())
  } finally {
    await server.close()
  }
})

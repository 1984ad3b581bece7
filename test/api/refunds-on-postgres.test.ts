/** Refunds over the admin API mean the same on PostgreSQL, and one gateway follows the other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { assertClean } from '../support/money.ts'
import { createAdminToken } from '../support/operations.ts'
import { sendAsk } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./refunds.test.ts')

test('a refund by one gateway gives the daily limit back on the other', async () => {
  const one = await scenario()
  const other = await scenario({ storeUrl: one.storeUrl, catalogue: () => one.catalogueText })
  try {
    const { secret } = await createAdminToken(one.context, { name: 'test' })
    const account = await one.createAccount({ daily_usd: '0.002' })
    const ask = () => sendAsk(one.url, account.key, { format: 'messages', isStream: true })
    const ids: string[] = []
    for (;;) {
      const answer = await ask()
      if (answer.status === 429) break
      ids.push(String(answer.headers['x-turnpike-request-id']))
    }
    for (const id of ids) {
      // Both gateways at once: one of them books it.
      const answers = await Promise.all(
        [one, other].map(({ adminUrl }) =>
          send(`${adminUrl}/admin/v1/requests/${id}/refund`, {
            method: 'POST',
            headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
            body: '{}',
          }),
        ),
      )
      const repeated = answers.map(
        ({ body }) => (JSON.parse(body.toString()) as { repeated: boolean }).repeated,
      )
      assert.deepEqual(new Set(repeated), new Set([false, true]))
      assert.equal(repeated.length, 2)
    }
    await eventually('admitted', ask, ({ status }) => status === 200)
    await assertClean(one)
  } finally {
    await other.close()
    await one.close()
  }
})

/** Operations that take longer than a client may stand still: the client waits, and gets the answer. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { send } from '../support/http-client.ts'
import { createAdminToken } from '../support/operations.ts'
import { withScenario } from '../support/scenario.ts'

test('an operation that works for long is answered', () =>
  withScenario({ settings: { write_stall_timeout: '100ms' } }, async ({ context, adminUrl }) => {
    const { secret } = await createAdminToken(context, { name: 'test' })
    const answer = await context.database.transact(async () => {
      // It waits for the lock of the store.
      const asked = send(`${adminUrl}/admin/v1/accounts`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'late' }),
      })
      asked.catch(() => undefined)
      // These ask for nothing, one after the other: each is cut off after the time that it may stand still.
      for (let count = 0; count < 3; count++) {
        const silent = connect(Number(new URL(adminUrl).port), '127.0.0.1')
        await once(silent, 'close')
      }
      return { asked }
    })
    assert.equal((await answer.asked).status, 201)
  }))

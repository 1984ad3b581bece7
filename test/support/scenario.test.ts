import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { it } from 'node:test'
import { scenario } from './scenario.ts'
import { send } from './http-client.ts'

it('a gateway that cannot be closed in order leaves nothing open behind it', async (test) => {
  const gateway = await scenario()
  const { app, sandbox, folder, context } = gateway
  const close = app.close.bind(app)
  test.after(async () => {
    await close()
    await sandbox.close()
    await context.database.close()
  })
  app.close = () => Promise.reject(new Error('the disk is full'))
  await assert.rejects(gateway.close(), /the disk is full/)
  assert.equal(existsSync(folder), false)
  await assert.rejects(send(sandbox.url), { code: 'ECONNREFUSED' })
  await assert.rejects(context.database.query('SELECT 1 AS one'))
})

/**
 * Sessions on PostgreSQL: the same rules, and two gateways on one store. A session that begins on one is
 * valid on the other at once; when one ends it, the other refuses its next request.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createSignInCode } from '../../src/operations/sessions/sessions.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { browserWith, openBrowser, signIn } from '../support/browser-session.ts'
import { createAdminToken, revokeKey } from '../support/operations.ts'
import { scenario, type ProcessScenario } from '../support/scenario.ts'
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./sessions.test.ts')

describe('two gateways', () => {
  let cluster: ProcessScenario
  let one: string
  let two: string

  before(async () => {
    cluster = await scenario({ process: 'own' })
    one = (await cluster.start({ node_name: 'one' })).adminUrl
    two = (await cluster.start({ node_name: 'two' })).adminUrl
  })
  after(() => cluster.close())

  /** Signs in on one gateway, and returns the same browser on both. */
  async function open() {
    const { key, secret } = await createAdminToken(cluster.context, { name: 'test' })
    const onOne = await openBrowser(one, { token: secret })
    const onTwo = browserWith(two, onOne.cookie)
    assert.equal((await onTwo.get('/accounts')).status, 200)
    return { id: key.id, onOne, onTwo }
  }

  test('signing out everywhere on one ends the sessions on the other', async () => {
    const { onOne, onTwo } = await open()
    assert.equal((await onOne.change('DELETE', '/sessions')).status, 200)
    assert.equal((await onTwo.get('/accounts')).status, 401)
  })

  test('a revoked token ends its sessions on both', async () => {
    const { id, onOne, onTwo } = await open()
    await revokeKey(cluster.context, { kind: 'admin', id })
    for (const browser of [onOne, onTwo]) assert.equal((await browser.get('/accounts')).status, 401)
  })

  test('a link signs in once, on either', async () => {
    await createAdminToken(cluster.context, { name: 'owner' })
    const { code } = valueOf(await createSignInCode(cluster.context, {}))
    const answers = await Promise.all([one, two, one, two].map((url) => signIn(url, { code })))
    const statuses = answers.map(({ status }) => status).sort((left, right) => left - right)
    assert.deepEqual(statuses, [200, 401, 401, 401])
  })
})

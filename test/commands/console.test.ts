/** `turnpike console`: its link signs in once with the rights of an owner, and is never a link to nowhere. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { newFolder, run, type Ran } from '../support/command-line.ts'
import { signIn } from '../support/browser-session.ts'
import { createAdminToken, recentActions, revokeKey } from '../support/operations.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

let gateway: Scenario
let ownerId: string

before(async () => {
  gateway = await scenario()
  await createAdminToken(gateway.context, { name: 'viewer', role: 'viewer' })
  ownerId = (await createAdminToken(gateway.context, { name: 'boss' })).key.id
})
after(() => gateway.close())

function type(words: string, settings: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const environment = { TURNPIKE_STORE: gateway.storeUrl, ...settings }
  return run(newFolder(), words.split(' '), environment)
}

describe('turnpike console', () => {
  it('prints a link that signs in once', async () => {
    const { code, out } = await type('console')
    assert.equal(code, 0)
    const [link = '', , sentence = ''] = out.split('\n')
    assert.match(link, /^http:\/\/127\.0\.0\.1:8081\/console\/sign-in#[\w-]{43}$/)
    assert.match(
      sentence,
      /^It signs in once, until \S+Z, with the rights of the admin token boss\.$/,
    )
    const proof = { code: new URL(link).hash.slice(1) }
    const answer = await signIn(gateway.adminUrl, proof)
    assert.equal(answer.status, 200)
    assert.equal((JSON.parse(answer.text) as { token_id: string }).token_id, ownerId)
    assert.equal((await signIn(gateway.adminUrl, proof)).status, 401)
    const actions = (await recentActions(gateway.context, { sessions: true })).map(
      ({ action, actor }) => ({
        action,
        actor: actor.replace(/:.*/, ''),
      }),
    )
    assert.deepEqual(actions.slice(0, 2), [
      { action: 'session.create', actor: ownerId },
      { action: 'sign-in-code.create', actor: 'cli' },
    ])
  })

  it('prints one document with --json, for the address that --url gives', async () => {
    const { out } = await type('console --json --url https://admin.example.com/')
    const document = JSON.parse(out) as Record<string, string>
    assert.deepEqual(Object.keys(document), ['url', 'token_id', 'token_name', 'expires_at'])
    assert.match(
      document['url'] ?? '',
      /^https:\/\/admin\.example\.com\/console\/sign-in#[\w-]{43}$/,
    )
  })

  it('refuses an address at which no browser could sign in, and makes no code', async () => {
    const before = (await recentActions(gateway.context)).length
    for (const [words, settings, message] of [
      ['console', { TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0' }, /admin_listen has port 0.* Add --url/],
      ['console', { TURNPIKE_ADMIN_LISTEN: '10.1.2.3:8081' }, /10\.1\.2\.3:8081 needs https/],
      ['console --url http://admin.example.com', {}, /must be an https address/],
      ['console --url https://admin.example.com/console', {}, /without a path/],
      ['console --url admin', {}, /must be an https address/],
      ['console --server https://admin.example.com', {}, /on the host of the gateway/],
    ] as const) {
      const { code, out, error } = await type(words, settings)
      assert.deepEqual([code, out], [2, ''], error)
      assert.match(error, message)
    }
    assert.equal((await recentActions(gateway.context)).length, before)
    const { code } = await type('console', { TURNPIKE_ADMIN_LISTEN: '0.0.0.0:8081' })
    assert.equal(code, 0)
  })

  it('says what to do where no owner has a token', async () => {
    await revokeKey(gateway.context, { kind: 'admin', id: ownerId })
    const { code, error } = await type('console')
    assert.equal(code, 1)
    assert.match(error, /There is no admin token with the role owner\. Create one/)
  })
})

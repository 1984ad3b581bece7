/** Commands through a gateway with a token that may not do it, has expired, was revoked, or never existed. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeSecret } from '../../src/access/key.ts'
import { newFolder, run, type Ran } from '../support/command-line.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { createAdminToken, revokeKey } from '../support/operations.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

let gateway: Scenario

before(async () => {
  gateway = await scenario({ settings: { max_failed_sign_ins: '0' } })
})

after(() => gateway.close())

function type(line: string, secret: string): Promise<Ran> {
  const environment = { TURNPIKE_SERVER: gateway.adminUrl, TURNPIKE_TOKEN: secret }
  return run(newFolder(), line.split(' '), environment)
}

/** Asserts one sentence on stderr without the secret, exit code 1, and the error as a document. */
async function assertRefused(line: string, secret: string, code: string, message: RegExp) {
  const plain = await type(line, secret)
  assert.deepEqual({ code: plain.code, out: plain.out }, { code: 1, out: '' }, plain.error)
  assert.match(plain.error, message)
  assert.match(plain.error, /^turnpike: [^\n]+\n$/)
  const document = await type(`${line} --json`, secret)
  const { error } = JSON.parse(document.out) as { error: { code: string } }
  assert.deepEqual({ exit: document.code, code: error.code }, { exit: 1, code })
  assert.ok(!`${plain.error}${document.out}${document.error}`.includes(secret))
}

const notAccepted = /refuses the admin token: it is unknown, revoked or expired\. .*TURNPIKE_TOKEN/

describe('a command through a gateway', () => {
  it('with the token of a viewer reads, and changes nothing', async () => {
    const { secret } = await createAdminToken(gateway.context, { role: 'viewer' })
    const listed = await type('account list --json', secret)
    assert.equal(listed.code, 0, listed.error)
    const operator = /^turnpike: This needs an admin token with the role operator\.\n$/
    const low = 'access.role_insufficient'
    await assertRefused('account create never', secret, low, operator)
    const owner = /^turnpike: This needs an admin token with the role owner\.\n$/
    await assertRefused('alert create never --email a@b.example', secret, low, owner)
    const { out } = await type('account list --json', secret)
    assert.equal(out, listed.out)
  })

  it('with a token that expired, was revoked or never existed is refused', async () => {
    const { context } = gateway
    const past = { ...context, clock: new ManualClock(Date.parse('2026-01-01T00:00:00Z')) }
    const expired = await createAdminToken(past, { expires: '2026-01-02' })
    const revoked = await createAdminToken(context, {})
    await revokeKey(context, { kind: 'admin', id: revoked.key.id })
    await gateway.app.refresh()
    for (const secret of [makeSecret('admin'), expired.secret, revoked.secret])
      await assertRefused('account list', secret, 'access.credential_invalid', notAccepted)
  })

  it('with a key or a read-only token sends nothing', async () => {
    const { key, token } = gateway.account
    for (const secret of [key, token]) {
      const { code, out, error } = await type('account list', secret)
      assert.deepEqual({ code, out }, { code: 2, out: '' })
      assert.match(error, /^turnpike: TURNPIKE_TOKEN must be an admin token: ad_ and .*\n$/)
      assert.ok(!error.includes(secret))
    }
  })
})

/**
 * Every endpoint of the admin API × every kind of caller: each gets the right status, each answer fits its
 * strict schema, and each change is in the operators' log under the token that made it. The rows are read
 * from the program, so a new endpoint is tested as soon as it exists.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { adminRoles, makeSecret, operatorRoles, type AdminRole } from '../../src/access/key.ts'
import {
  allEndpoints,
  allFeeds,
  allFiles,
  allRows,
  allStreams,
} from '../../src/operations/all-endpoints.ts'
import { openEvents } from '../support/event-reader.ts'
import { send, type WireAnswer } from '../support/http-client.ts'
import { startMailServer, type MailServer } from '../support/mail-server.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { createAdminToken, recentActions } from '../support/operations.ts'
import { findFreePort } from '../support/postgres.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { openWorld, type AnyRow, type World } from './world.ts'

const rows: readonly AnyRow[] = [...allEndpoints, ...allStreams]

/** Their examples change nothing: dry runs, checks, comparisons, searches. */
const changeNothing = new Set([
  'catalogue.apply',
  'catalogue.edit',
  ...['vendors', 'models', 'channels'].flatMap((section) =>
    ['create', 'edit', 'retire'].map((verb) => `${section}.${verb}`),
  ),
  'prices.import',
  'reconciliations.create',
  'audits.create',
  'doctor.run',
  'keys.find',
  'search.find',
  'payments.compare',
])

/** All that a token with the role credits may call. */
const forCredits = new Set(['accounts.show', 'accounts.credit'])

let gateway: Scenario
let mailServer: MailServer
let world: World
const tokens = new Map<AdminRole, { readonly id: string; readonly secret: string }>()
let strangers: readonly (readonly [who: string, headers: Record<string, string>, status: number])[]

const bearer = (secret: string): Record<string, string> => ({ authorization: `Bearer ${secret}` })

describe('every endpoint', () => {
  before(async () => {
    const mailPort = await findFreePort()
    mailServer = await startMailServer(mailPort)
    gateway = await scenario({
      // The period of an example is months ago: retention must not remove it meanwhile.
      settings: {
        api_credential_variables: 'ALPHA_MAIN_KEY',
        request_retention: '36500d',
        public_url: 'http://127.0.0.1:8080',
        smtp: `smtp://127.0.0.1:${mailPort}`,
        smtp_from: 'turnpike@example.com',
      },
    })
    world = await openWorld(gateway)
    const { context, account } = gateway
    for (const role of adminRoles) {
      const { key, secret } = await createAdminToken(context, { name: role, role })
      tokens.set(role, { id: key.id, secret })
    }
    // Made by a clock that is long past, so that it has expired now.
    const past = { ...context, clock: new ManualClock(Date.parse('2026-01-01T00:00:00Z')) }
    const expired = await createAdminToken(past, { role: 'owner', expires: '2026-01-02' })
    strangers = [
      ['no token', {}, 401],
      ['a wrong token', bearer(makeSecret('admin')), 401],
      ['an expired token', bearer(expired.secret), 401],
      ['a key', bearer(account.key), 403],
      ['a read-only token', bearer(account.token), 403],
    ]
  })

  after(async () => {
    await gateway.close()
    await mailServer.close()
  })

  for (const row of rows) {
    test(`${row.id} refuses who is no operator, and answers by role`, async () => {
      for (const [who, headers, status] of strangers) {
        const answer = await world.call(row, row.example, headers)
        assert.equal(answer.status, status, `${row.id} for ${who}`)
        assert.equal(answer.headers['content-type'], 'application/problem+json')
      }
      for (const role of adminRoles) await assertRole(row, role)
    })
  }

  test('every file refuses all but its role', async () => {
    const available = gateway.context.database.dialect === 'sqlite' ? 200 : 409
    for (const file of allFiles) {
      for (const [who, headers, status] of strangers) {
        const refused = await world.call(file, file.example, headers)
        assert.equal(refused.status, status, `${file.id} for ${who}`)
        assert.equal(refused.headers['content-type'], 'application/problem+json')
      }
      for (const [role, { secret }] of tokens) {
        const answer = await world.call(file, file.example, bearer(secret))
        assert.equal(answer.status, role === file.role ? available : 403, `${file.id} for ${role}`)
      }
    }
  })

  test('every feed refuses who is no operator, and answers every role but credits', async () => {
    for (const feed of allFeeds) {
      const url = `${gateway.adminUrl}/admin/v1${feed.path}`
      for (const [who, headers, status] of strangers) {
        const refused = await openEvents(url, headers)
        assert.equal(refused.status, status, `${feed.id} for ${who}`)
        assert.equal(refused.headers['content-type'], 'application/problem+json')
      }
      for (const [role, { secret }] of tokens) {
        const opened = await openEvents(url, bearer(secret))
        assert.equal(opened.status, role === 'credits' ? 403 : 200, `${feed.id} for ${role}`)
        if (role === 'credits') continue
        assert.equal(opened.headers['content-type'], 'text/event-stream')
        opened.close()
      }
    }
  })

  test('a token with the role credits gets no metrics and no session, and takes nothing back', async () => {
    const headers = bearer(tokens.get('credits')?.secret ?? '')
    const call = (path: string, body?: object): Promise<WireAnswer> =>
      send(`${gateway.adminUrl}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    const origin = { origin: gateway.adminUrl, 'x-turnpike-console': 'user' }
    const signedIn = await send(`${gateway.adminUrl}/admin/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...origin },
      body: JSON.stringify({ token: tokens.get('credits')?.secret }),
    })
    const credit = { amount_usd: '-1', reference: 'taken-back', confirm: true }
    for (const answer of [
      await call('/metrics'),
      signedIn,
      await call('/admin/v1/accounts/acme/credits', credit),
    ]) {
      assert.equal(answer.status, 403)
      assert.match(answer.body.toString(), /access\.role_insufficient/)
      assert.equal(answer.headers['set-cookie'], undefined)
    }
  })
})

async function assertRole(row: AnyRow, role: AdminRole): Promise<void> {
  const token = tokens.get(role)
  assert.ok(token !== undefined)
  const mayCall =
    role === 'credits'
      ? forCredits.has(row.id)
      : operatorRoles.indexOf(role) >= operatorRoles.indexOf(row.role)
  const before = await actionsOf(token.id)
  const input = mayCall ? await world.realize(row) : row.example
  const answer = await world.call(row, input, bearer(token.secret))
  const made = (await actionsOf(token.id)) - before
  const text = answer.body.toString()
  if (!mayCall) {
    assert.equal(answer.status, 403, `${row.id} for ${role}: ${text}`)
    assert.equal((JSON.parse(text) as { code: string }).code, 'access.role_insufficient')
    assert.equal(made, 0)
    return
  }
  const status = 'operation' in row ? (row.status ?? 200) : 200
  assert.equal(answer.status, status, `${row.id} for ${role}: ${text}`)
  assert.equal(answer.headers['cache-control'], 'no-store')
  const isChange = row.method !== 'GET' && !changeNothing.has(row.id)
  assert.equal(made > 0, isChange, `${row.id} wrote ${made} actions`)
  if (!('operation' in row)) return
  const parsed = row.answer.safeParse(JSON.parse(text))
  assert.ok(parsed.success, `${row.id}: ${parsed.error?.message} in ${text}`)
}

async function actionsOf(tokenId: string): Promise<number> {
  const actions = await recentActions(gateway.context, { limit: 1000, sessions: true })
  return actions.filter(({ actor }) => actor === tokenId).length
}

test('the roles are those of the table in docs/admin-api.md', async () => {
  const { readFile } = await import('node:fs/promises')
  const page = await readFile(new URL('../../docs/admin-api.md', import.meta.url), 'utf8')
  const documented = [...page.matchAll(/^\| `(\w+) (\/\S*)`\s*\| ([a-z, ]+?)\s*\|/gm)]
  const rolesOf = ({ id, role }: AnyRow | (typeof allRows)[number]): string =>
    forCredits.has(id) ? `${role}, credits` : role
  assert.deepEqual(
    documented.map(([, method, path, roles]) => `${method} ${path} ${roles}`).sort(),
    allRows.map((row) => `${row.method} ${row.path} ${rolesOf(row)}`).sort(),
  )
})

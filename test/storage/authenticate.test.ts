import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noKeyLimits } from '../../src/base/key-limits.ts'
import type { Database, Queryable } from '../../src/storage/database.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import {
  createAuthenticate,
  unusableSecret,
  type Authenticate,
} from '../../src/access/authenticate.ts'
import { hashSecret, headOf, makeSecret, type KeyKind } from '../../src/access/key.ts'
import { FailedSignIns } from '../../src/access/failed-sign-ins.ts'
import { createKeyDirectory, type KeyDirectory } from '../../src/access/key-directory.ts'
import { insertKey, revokeKey } from '../../src/access/key-store.ts'

const nowMs = Date.parse('2026-11-21T12:00:00Z')
const failuresMax = 100
const newFailures = (): FailedSignIns =>
  new FailedSignIns({ perMinuteMax: failuresMax, onReached: () => undefined })
const caller = { address: '192.0.2.1', nowMs }

interface World {
  readonly database: Database
  readonly directory: KeyDirectory
  readonly authenticate: Authenticate
  /** Statements the directory has sent to the store. */
  readonly reads: () => number
  /** Makes a key of account `acme` (admin tokens: of none) and returns its secret. */
  addKey(kind: KeyKind, extra?: KeyExtra): Promise<string>
}

interface KeyExtra {
  readonly id?: string
  readonly accountId?: string
  readonly ipRanges?: readonly string[]
  readonly allowedModels?: readonly string[]
  readonly expiresAtMs?: number
  readonly secret?: string
}

async function withWorld(test: (world: World) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-access-'))
  const database = openSqlite(join(folder, 'store.db'))
  try {
    await migrate(database)
    await database.query(
      `INSERT INTO account (id, name, status, price_multiplier_ppm, created_at_ms) VALUES
         ('acc_1', 'acme', 'active', 900000, 0), ('acc_2', 'idle', 'suspended', 1000000, 0)`,
    )
    await test(buildWorld(database))
  } finally {
    await database.close()
    rmSync(folder, { recursive: true })
  }
}

function buildWorld(database: Database): World {
  let readCount = 0
  const counted: Queryable = {
    query(sql, parameters) {
      readCount++
      return database.query(sql, parameters)
    },
  }
  const directory = createKeyDirectory(counted, { bound: 100 })
  return {
    database,
    directory,
    authenticate: createAuthenticate(directory, newFailures()),
    reads: () => readCount,
    async addKey(kind, extra = {}) {
      const secret = extra.secret ?? makeSecret(kind)
      await database.transact((transaction) =>
        insertKey(transaction, {
          id: extra.id ?? `key_${hashSecret(secret)}`,
          kind,
          accountId: kind === 'admin' ? undefined : (extra.accountId ?? 'acc_1'),
          name: '',
          head: headOf(secret),
          secretHash: hashSecret(secret),
          allowedModels: extra.allowedModels,
          ipRanges: extra.ipRanges,
          limits: noKeyLimits,
          createdAtMs: nowMs,
          expiresAtMs: extra.expiresAtMs,
        }),
      )
      return secret
    },
  }
}

async function outcome(
  world: World,
  presented: string | undefined,
  options: { wanted?: KeyKind; address?: string | undefined; nowMs?: number } = {},
): Promise<string> {
  const answer = await world.authenticate(presented, options.wanted ?? 'client', {
    address: 'address' in options ? options.address : caller.address,
    nowMs: options.nowMs ?? nowMs,
  })
  return answer.kind === 'principal' ? answer.keyKind : answer.code
}

describe('authentication', () => {
  it('answers every kind of credential on every kind of endpoint', () =>
    withWorld(async (world) => {
      const kinds: readonly KeyKind[] = ['client', 'reader', 'admin']
      for (const kind of kinds) {
        const secret = await world.addKey(kind)
        for (const wanted of kinds) {
          const expected = kind === wanted ? kind : 'access.credential_wrong_kind'
          assert.equal(await outcome(world, secret, { wanted }), expected, `${kind} on ${wanted}`)
        }
      }
    }))

  it('returns the principal with the limits of its key and account', () =>
    withWorld(async (world) => {
      const secret = await world.addKey('client', { id: 'key_a', allowedModels: ['m-1'] })
      const answer = await world.authenticate(secret, 'client', caller)
      assert.deepEqual(answer, {
        kind: 'principal',
        keyKind: 'client',
        keyId: 'key_a',
        accountId: 'acc_1',
        allowedModels: new Set(['m-1']),
        priceMultiplierPpm: 900_000,
        // It has not paid yet.
        holds: 'most',
        keyLimits: noKeyLimits,
      })
    }))

  it('refuses malformed, unknown, revoked and expired credentials with the same words', () =>
    withWorld(async (world) => {
      const revoked = await world.addKey('client', { id: 'key_revoked' })
      await world.database.transact((transaction) =>
        revokeKey(transaction, { id: 'key_revoked', atMs: nowMs }),
      )
      const expired = await world.addKey('client', { expiresAtMs: nowMs })
      const answers = await Promise.all(
        [unusableSecret, 'cr_short', makeSecret('client'), revoked, expired].map(async (secret) =>
          world.authenticate(secret, 'client', caller),
        ),
      )
      for (const answer of answers) assert.deepEqual(answer, answers[0])
      assert.ok(answers[0]?.kind === 'refusal')
      assert.equal(answers[0].code, 'access.credential_invalid')
      assert.equal(await outcome(world, undefined), 'access.credential_invalid')
      assert.equal(await outcome(world, expired, { nowMs: nowMs - 1 }), 'client')
    }))

  it('refuses a revoked credential before it says where it belongs', () =>
    withWorld(async (world) => {
      const secret = await world.addKey('reader', { id: 'key_r' })
      await world.database.transact((transaction) =>
        revokeKey(transaction, { id: 'key_r', atMs: nowMs }),
      )
      assert.equal(await outcome(world, secret), 'access.credential_invalid')
    }))

  it('refuses the keys of a suspended or closed account, not its read-only tokens', () =>
    withWorld(async (world) => {
      const secret = await world.addKey('client', { accountId: 'acc_2' })
      const token = await world.addKey('reader', { accountId: 'acc_2' })
      assert.equal(await outcome(world, secret), 'access.account_suspended')
      assert.equal(await outcome(world, token, { wanted: 'reader' }), 'reader')
      await world.database.query("UPDATE account SET closed_at_ms = 1 WHERE id = 'acc_2'")
      world.directory.clear()
      assert.equal(await outcome(world, secret), 'access.account_closed')
      assert.equal(await outcome(world, token, { wanted: 'reader' }), 'reader')
    }))

  it('lets a key be used only from its addresses', () =>
    withWorld(async (world) => {
      const secret = await world.addKey('client', { ipRanges: ['192.0.2.0/24', '2001:db8::/32'] })
      for (const address of ['192.0.2.9', '::ffff:192.0.2.9', '2001:db8::1']) {
        assert.equal(await outcome(world, secret, { address }), 'client', address)
      }
      for (const address of ['198.51.100.1', undefined]) {
        assert.equal(await outcome(world, secret, { address }), 'access.address_not_allowed')
      }
    }))

  it('limits failed sign-ins of an address, and still accepts every valid key from there', () =>
    withWorld(async (world) => {
      const known = await world.addKey('client', { id: 'key_known' })
      const fresh = await world.addKey('client', { id: 'key_fresh' })
      const revoked = await world.addKey('client', { id: 'key_revoked' })
      await world.database.transact((transaction) =>
        revokeKey(transaction, { id: 'key_revoked', atMs: nowMs }),
      )
      assert.equal(await outcome(world, known), 'client')
      const wrong = [undefined, 'sk-wrong', makeSecret('client'), revoked]
      const outcomes: string[] = []
      for (let index = 0; index < failuresMax + 8; index++)
        outcomes.push(await outcome(world, wrong[index % wrong.length]))
      const expected = (at: number): string =>
        at < failuresMax ? 'access.credential_invalid' : 'access.too_many_failed_sign_ins'
      assert.deepEqual(
        outcomes,
        outcomes.map((_, at) => expected(at)),
      )
      assert.equal(await outcome(world, known), 'client')
      assert.equal(await outcome(world, fresh), 'client')
      const other = { address: '192.0.2.2' }
      assert.equal(await outcome(world, 'sk-wrong', other), 'access.credential_invalid')
      assert.equal(
        await outcome(world, 'sk-wrong', { nowMs: nowMs + 60_000 }),
        'access.credential_invalid',
      )
    }))

  it('accepts a valid key amid many guesses at once from its address', () =>
    withWorld(async (world) => {
      const fresh = await world.addKey('client', { id: 'key_fresh' })
      for (let index = 0; index < failuresMax; index++) await outcome(world, undefined)
      const guess = (): Promise<string> => outcome(world, makeSecret('client'))
      const early = Array.from({ length: 20 }, guess)
      const valid = outcome(world, fresh)
      const guesses = [...early, ...Array.from({ length: 20 }, guess)]
      assert.equal(await valid, 'client')
      assert.deepEqual(
        new Set(await Promise.all(guesses)),
        new Set(['access.too_many_failed_sign_ins']),
      )
    }))

  it('accepts an admin token that was made elsewhere', () =>
    withWorld(async (world) => {
      const secret = await world.addKey('admin', { secret: `ad_${'x'.repeat(40)}` })
      assert.equal(await outcome(world, secret, { wanted: 'admin' }), 'admin')
      assert.equal(await outcome(world, secret), 'access.credential_wrong_kind')
    }))
})

describe('the key directory', () => {
  it('returns the same principal without another read once a key has been read', () =>
    withWorld(async (world) => {
      const secret = await world.addKey('client')
      const first = await world.authenticate(secret, 'client', caller)
      const second = await world.authenticate(secret, 'client', caller)
      assert.equal(second, first)
      assert.equal(world.reads(), 1)
    }))

  it('reads once for requests that come together, and never for typos', () =>
    withWorld(async (world) => {
      const secret = await world.addKey('client')
      await Promise.all(Array.from({ length: 20 }, () => outcome(world, secret)))
      assert.equal(world.reads(), 1)
      await outcome(world, `${secret.slice(0, -1)}-`)
      await outcome(world, 'cr_nonsense')
      assert.equal(world.reads(), 1)
      const stranger = makeSecret('client')
      await outcome(world, stranger)
      await outcome(world, stranger)
      assert.equal(world.reads(), 2)
    }))

  it('sees a revocation and a new key as soon as it is cleared', () =>
    withWorld(async (world) => {
      const secret = await world.addKey('client', { id: 'key_a' })
      const later = makeSecret('client')
      assert.equal(await outcome(world, secret), 'client')
      assert.equal(await outcome(world, later), 'access.credential_invalid')
      await world.database.transact((transaction) =>
        revokeKey(transaction, { id: 'key_a', atMs: nowMs }),
      )
      await world.addKey('client', { secret: later })
      world.directory.clear()
      assert.equal(await outcome(world, secret), 'access.credential_invalid')
      assert.equal(await outcome(world, later), 'client')
    }))

  it('does not cache a read from before the cache was cleared', () =>
    withWorld(async (world) => {
      const secret = await world.addKey('client', { id: 'key_a' })
      const early = world.authenticate(secret, 'client', caller)
      world.directory.clear()
      await early
      await outcome(world, secret)
      assert.equal(world.reads(), 2)
      await outcome(world, secret)
      assert.equal(world.reads(), 2)
    }))

  it('keeps a key that is in use while many others pass, within its bound', () =>
    withWorld(async (world) => {
      const kept = await world.addKey('client')
      await outcome(world, kept)
      for (let count = 0; count < 300; count++) {
        if (count % 40 === 0) assert.equal(await outcome(world, kept), 'client')
        await outcome(world, await world.addKey('client'))
      }
      const readsBefore = world.reads()
      await outcome(world, kept)
      assert.equal(world.reads(), readsBefore)
      assert.equal(readsBefore, 301)
    }))

  it('passes on a failure of the store and asks again next time', () =>
    withWorld(async (world) => {
      const secret = await world.addKey('client')
      let isBroken = true
      const directory = createKeyDirectory(
        {
          query: (sql, parameters) =>
            isBroken
              ? Promise.reject(new Error('out of order'))
              : world.database.query(sql, parameters),
        },
        { bound: 10 },
      )
      const authenticate = createAuthenticate(directory, newFailures())
      await assert.rejects(async () => authenticate(secret, 'client', caller), /out of order/)
      isBroken = false
      const answer = await authenticate(secret, 'client', caller)
      assert.equal(answer.kind, 'principal')
    }))
})

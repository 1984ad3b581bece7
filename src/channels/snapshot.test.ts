/** Building a snapshot from rows: what is served, what is left out, and with what reason. */
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { test } from 'node:test'
import { Secret } from '../base/secret.ts'
import { seal } from '../storage/master-key.ts'
import type { CatalogueRows, ChannelRow } from './channel-store.ts'
import { buildSnapshot, createSnapshotHolder, credentialField } from './snapshot.ts'

const masterKey = new Secret('m'.repeat(44))

function channelRow(name: string, change: Partial<ChannelRow> = {}): ChannelRow {
  return {
    name,
    vendor: 'alpha',
    url: 'https://vendor.example',
    credential: seal(masterKey, { owner: name, field: credentialField }, new Secret('sk-1')),
    models: new Map([['m', undefined]]),
    rank: 0,
    weight: 1,
    maxConcurrent: undefined,
    check: 'request',
    override: 'enabled',
    credentialSetAtMs: 1,
    baselines: new Map(),
    cost: undefined,
    path: '/v1',
    query: new Map(),
    headers: new Map(),
    streamUsage: 'ask',
    dropBetas: [],
    allowPrivate: false,
    retiredAtMs: undefined,
    ...change,
  }
}

function rows(change: Partial<CatalogueRows> = {}): CatalogueRows {
  return {
    vendors: [
      {
        name: 'alpha',
        format: 'messages',
        credential: 'x-api-key',
        versionHeader: undefined,
        defaultVersion: undefined,
        requireMaxTokens: true,
        allowedFeatures: new Set(),
        storedResponses: 'own',
        retiredAtMs: undefined,
      },
    ],
    models: [
      {
        id: 'm',
        vendor: 'alpha',
        maxOutputTokens: undefined,
        maxInputTokens: undefined,
        imageTokens: undefined,
        firstEventTimeoutMs: undefined,
        pingTimeoutMs: undefined,
        dated: undefined,
        thinks: undefined,
        operations: undefined,
        createdAtMs: 1,
        retiredAtMs: undefined,
      },
    ],
    prices: [{ model: 'm', validFromMs: 0, prices: '{"input":1,"output":2}' }],
    channels: [channelRow('c')],
    ...change,
  }
}

function build(change: Partial<CatalogueRows> = {}, variables: Record<string, string> = {}) {
  return buildSnapshot(rows(change), {
    masterKey: () => masterKey,
    environment: (name) => variables[name],
    revision: 7,
  })
}

function reasons(snapshot: Awaited<ReturnType<typeof build>>): readonly string[] {
  return snapshot.outOfService.map(({ kind, name, reason }) => `${kind} ${name}: ${reason}`)
}

test('builds a complete catalogue', async () => {
  const snapshot = await build()
  assert.equal(snapshot.revision, 7)
  assert.equal(snapshot.channels.get('c')?.credential.reveal(), 'sk-1')
  assert.deepEqual(reasons(snapshot), [])
})

test('leaves out retired vendors, models and channels', async () => {
  const [vendor] = rows().vendors
  assert.ok(vendor !== undefined)
  const snapshot = await build({
    vendors: [{ ...vendor, retiredAtMs: 5 }],
    channels: [channelRow('c', { retiredAtMs: 5 })],
  })
  assert.equal(snapshot.vendors.size, 0)
  assert.equal(snapshot.channels.size, 0)
  assert.deepEqual(reasons(snapshot), [])
})

test('a disabled channel stays in the snapshot, so that it can be shown', async () => {
  const snapshot = await build({ channels: [channelRow('c', { override: 'disabled' })] })
  assert.equal(snapshot.channelsByModel.get('m')?.[0]?.override, 'disabled')
})

test('leaves a channel out whose variable is unset, blank or has a line break', async () => {
  const channels = ['UNSET', 'BLANK', 'SPLIT'].map((name) =>
    channelRow(name.toLowerCase(), { credential: `env:${name}` }),
  )
  const snapshot = await build({ channels }, { BLANK: ' ', SPLIT: 'a\r\nx-evil: b' })
  assert.equal(snapshot.channels.size, 0)
  assert.equal(reasons(snapshot).length, 3)
  assert.match(reasons(snapshot)[2] ?? '', /SPLIT holds characters/)
})

test("removes space around a variable's value, such as a trailing newline", async () => {
  const channels = [channelRow('c', { credential: 'env:KEY' })]
  assert.equal(
    (await build({ channels }, { KEY: 'sk-2\n' })).channels.get('c')?.credential.reveal(),
    'sk-2',
  )
})

test('an unreadable price leaves out its model and nothing else', async () => {
  const snapshot = await build({
    prices: [{ model: 'm', validFromMs: 0, prices: '{"input":"?"}' }],
  })
  assert.equal(snapshot.models.size, 0)
  assert.equal(snapshot.channelsByModel.size, 0)
  assert.equal(snapshot.channels.size, 1)
  assert.match(reasons(snapshot)[0] ?? '', /^model m: its stored prices cannot be read/)
})

test('never uses a plain secret in the store', async () => {
  const snapshot = await build({ channels: [channelRow('c', { credential: 'sk-plain' })] })
  assert.match(reasons(snapshot)[0] ?? '', /not sealed/)
})

test('printing a snapshot shows no credential', async () => {
  const snapshot = await build()
  assert.ok(!inspect(snapshot, { depth: 9 }).includes('sk-1'))
  assert.ok(!JSON.stringify([...snapshot.channels.values()]).includes('sk-1'))
})

test('a holder returns the latest snapshot; an earlier one stays unchanged', async () => {
  const holder = createSnapshotHolder(await build())
  const taken = holder.current
  const next = await build({ channels: [] })
  holder.swap(next)
  assert.equal(holder.current, next)
  assert.equal(taken.channels.size, 1)
  holder.swap({ ...next, revision: 6 })
  assert.equal(holder.current, next)
})

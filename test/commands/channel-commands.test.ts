/**
 * `turnpike channel …` before a gateway has run, while it runs and after it has stopped: the commands show
 * the known state with its age, and invent nothing. Real processes and simulated vendors.
 */
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { after, before, test } from 'node:test'
import type {
  ChannelChangeView,
  ChannelDetail,
  ChannelListing,
} from '../../src/operations/channels/channel-health.ts'
import type { ChannelHealthView } from '../../src/operations/channels/model-health.ts'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'
import { eventually } from '../support/eventually.ts'
import { post, send } from '../support/http-client.ts'
import { openProgram, type Program, type Serving } from '../support/program.ts'

let sandbox: Sandbox
let program: Program
let gateway: Serving
let key: string
before(async () => {
  sandbox = await startSandbox()
  program = await openProgram({ MAIN_KEY: 'vendor-main', RESERVE_KEY: 'vendor-reserve' })
  await program.write('catalog.yaml', catalogue())
  await program.json('apply', '-f', 'catalog.yaml')
  await program.json('account', 'create', 'acme', '--balance', '5')
  key = (await program.json<{ key: string }>('key', 'create', 'acme')).key
})
after(async () => {
  await program.close()
  await sandbox.close()
})

function catalogue(): string {
  return `
vendors:
  alpha: { format: messages, version_header: anthropic-version, default_version: "2023-06-01", credential: x-api-key }
models:
  large-1: { vendor: alpha, max_output_tokens: 8192, price: { input: 3, output: 15 } }
channels:
  main: { vendor: alpha, url: "${sandbox.url}/main", credential: "env:MAIN_KEY", models: [large-1], rank: 0, max_concurrent: 40 }
  reserve: { vendor: alpha, url: "${sandbox.url}/reserve", credential: "env:RESERVE_KEY", models: [large-1], rank: 1, weight: 3, check: models }
`
}

/** How quick anything is, is no matter here. */

async function healthOf(name: string): Promise<ChannelHealthView | undefined> {
  const channels = await program.json<readonly ChannelListing[]>('channel', 'list')
  return channels.find((channel) => channel.name === name)?.health[0]
}

async function text(...words: readonly string[]): Promise<string> {
  const { code, out, error } = await program.run('channel', ...words)
  assert.equal(code, 0, error)
  return out
}

async function history(name: string): Promise<readonly string[]> {
  const changes = await program.json<readonly ChannelChangeView[]>('channel', 'history', name)
  return changes.map(({ from, to, why }) => `${from} → ${to}: ${why}`).toReversed()
}

/** Whatever has become of the main route, the reserve serves. */
async function ask(): Promise<void> {
  const answer = await post(`${gateway.url}/alpha/v1/messages`, key, {
    model: 'large-1',
    max_tokens: 20,
    messages: [{ role: 'user', content: 'hello' }],
  })
  assert.equal(answer.status, 200)
}

function untilState(name: string, state: string): Promise<ChannelHealthView | undefined> {
  return eventually(
    `${name} ${state}`,
    () => healthOf(name),
    (health) => health?.state === state && health.is_live,
  )
}

test('shows unknown health before a gateway has run', async () => {
  const listed = await text('list')
  assert.match(listed, /^main +alpha +0 +1 +yes +request +large-1 +unknown(?: +–)+ +0 +–$/m)
  assert.match(listed, /^reserve +alpha +1 +3 +yes +models +large-1 +unknown(?: +–)+ +0 +–$/m)
  assert.match(listed, /No gateway is running on this store/)
  const shown = await program.json<ChannelDetail>('channel', 'show', 'main')
  assert.deepEqual([shown.is_live, shown.nodes, shown.health, shown.history], [false, [], [], []])
  assert.equal(shown.check_cost.usd, '0')
  assert.match(await text('show', 'main'), /^max_concurrent +40$/m)
  assert.match(await text('history', 'main'), /No changes yet/)
  for (const word of ['show', 'history', 'check', 'off']) {
    const ran = await program.run('channel', word, 'nowhere')
    assert.equal(ran.code, 1)
    assert.match(ran.error, /no channel nowhere\. Channels: main, reserve/)
  }
})

test('shows the health that a running gateway publishes, also after a manual check', async () => {
  gateway = await program.serve()
  await untilState('main', 'on')
  const listed = await text('list')
  assert.match(listed, /^main +alpha +0 +1 +yes +request +large-1 +on .* start +1 /m)
  assert.match(listed, /^reserve .* start +0 /m)
  assert.match(listed, new RegExp(` ${hostname()}$`, 'm'))

  const checked = await program.json('channel', 'check', 'main')
  assert.deepEqual([checked['ok'], checked['gateways_asked']], [true, 1])
  const shown = await eventually(
    'the cost of the check',
    () => program.json<ChannelDetail>('channel', 'show', 'main'),
    ({ check_cost: cost }) => cost.count === 1,
  )
  assert.ok(Number(shown.check_cost.usd) > 0)
  assert.match(await text('show', 'main'), /^check_cost\.usd +0\.\d+$/m)
  assert.deepEqual(shown.history, [])
})

test('shows why a credential was refused, and enables the repaired channel after a check', async () => {
  sandbox.faults.set('main', 'error=401')
  await ask()
  const off = await untilState('main', 'off')
  assert.equal(off?.why, 'credential_refused')
  assert.match(
    await text('list'),
    /^main .* off +2\d{3}-\S+ +credential_refused +0 +Correct the credential, /m,
  )
  assert.match(await text('show', 'main'), / config \d+ 2\d{3}-/m)

  sandbox.faults.clear()
  const checked = await program.json('channel', 'check', 'main')
  assert.equal(checked['ok'], true)
  const told = await eventually(
    'back on trial',
    () => history('main'),
    (lines) => lines.includes('off → trial: operator_check'),
  )
  assert.deepEqual(told.slice(0, 2), [
    'on → off: credential_refused',
    'off → trial: operator_check',
  ])
})

test('shows and records who disabled a channel', async () => {
  await program.json('channel', 'off', 'reserve')
  const off = await untilState('reserve', 'disabled')
  const [word] = await program.json<readonly ChannelChangeView[]>('channel', 'history', 'reserve')
  assert.deepEqual([off?.since, off?.why], [word?.at, 'operator'])
  assert.match(await text('list'), /^reserve +alpha +1 +3 +no .* disabled .* operator /m)
  assert.match(await text('show', 'reserve'), /^enabled +no$/m)
  assert.match(await text('history', 'reserve'), / –? +enabled +disabled +operator +cli:\w+/)
  await program.json('channel', 'on', 'reserve')
  await untilState('reserve', 'on')
})

test('shows the last known state when no gateway is running', async () => {
  sandbox.faults.set('main', 'error=401')
  await eventually(
    'off again, by a probe or by a request',
    async () => {
      await ask()
      return healthOf('main')
    },
    (health) => health?.state === 'off',
  )
  assert.equal(await gateway.stop(), 0)
  const last = await healthOf('main')
  assert.deepEqual([last?.state, last?.is_live], ['off', false])
  assert.match(await text('list'), /^main .* off .*\n[^]*No gateway is running on this store\./m)
  assert.equal((await program.json('channel', 'check', 'reserve'))['gateways_asked'], 0)
})

test('resumes on trial after a restart, and shows it in history, list and /health', async () => {
  gateway = await program.serve()
  const trial = await eventually(
    'the new gateway’s word',
    () => healthOf('main'),
    (health) => health?.is_live === true,
  )
  assert.notEqual(trial?.state, 'on')
  assert.ok((await history('main')).includes('off → trial: restarted'))
  const health = await send(`${gateway.url}/health`)
  assert.equal((JSON.parse(health.body.toString()) as { status: string }).status, 'degraded')
  const nodes = (await program.json<ChannelDetail>('channel', 'show', 'main')).nodes
  assert.deepEqual(
    nodes.map((node) => node.is_running),
    [true],
  )
})

/**
 * Several equal channels: exchanges of one conversation stay on one of them, so that the vendor's prompt
 * cache stays warm, and different conversations use all of them. Nothing is kept: another gateway chooses
 * alike.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send } from '../support/http-client.ts'
import { openAsk, urlOf, wireRequest, type Ask, type StreamedFormat } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

const names = ['one', 'two', 'three', 'four']
const channels = (vendor: string, url: string, model: string): string =>
  names
    .map(
      (name) =>
        `  ${vendor}-${name}: { vendor: ${vendor}, url: ${url}/${vendor}-${name}, credential: sandbox-credential-${vendor}-${name}, models: [${model}], check: none }`,
    )
    .join('\n')
const catalogue = (url: string): string => `
vendors: { alpha: { format: messages, version_header: anthropic-version, default_version: '2023-06-01' }, beta: { format: chat } }
models:
  large-1: { vendor: alpha, max_input_tokens: 1000, price: { input: 1, output: 2 } }
  chat-1: { vendor: beta, max_input_tokens: 1000, price: { input: 1, output: 2 } }
channels:
${channels('alpha', url, 'large-1')}
${channels('beta', url, 'chat-1')}
`

let gateway: Scenario
before(async () => {
  gateway = await scenario({ catalogue, channels: {}, account: { balance_usd: '100' } })
})
after(() => gateway.close())

let markerCount = 0

interface Named {
  readonly headers?: Readonly<Record<string, string>>
  readonly fields?: Readonly<Record<string, unknown>>
  readonly key?: string
}

/** Returns the channel that served. */
async function channelOf(format: StreamedFormat, { headers, fields, key }: Named): Promise<string> {
  const marker = `conversation-${markerCount++}`
  const ask: Ask = { format, isStream: false, marker }
  const request = wireRequest(key ?? gateway.account.key, ask)
  const body = JSON.stringify({ ...(JSON.parse(String(request.body)) as object), ...fields })
  const answer = await send(urlOf(gateway.url, format), {
    headers: { ...request.headers, ...headers },
    body,
  })
  assert.equal(answer.status, 200, answer.body.toString())
  return gateway.tried(marker)[0] ?? ''
}

/** Returns the channels of so many conversations, each asked twice. */
async function channelsOf(
  format: StreamedFormat,
  name: (session: string) => Named,
): Promise<ReadonlySet<string>> {
  const used = new Set<string>()
  for (let index = 0; index < 24; index++) {
    const named = name(`session-${index}`)
    const first = await channelOf(format, named)
    assert.equal(await channelOf(format, named), first)
    used.add(first)
  }
  return used
}

const waysToName: Readonly<Record<string, readonly [StreamedFormat, (session: string) => Named]>> =
  {
    'x-claude-code-session-id': [
      'messages',
      (session) => ({ headers: { 'x-claude-code-session-id': session } }),
    ],
    session_id: ['responses', (session) => ({ headers: { session_id: session } })],
    'prompt_cache_key of chat': ['chat', (session) => ({ fields: { prompt_cache_key: session } })],
    'prompt_cache_key of responses': [
      'responses',
      (session) => ({ fields: { prompt_cache_key: session } }),
    ],
  }

for (const [way, [format, name]] of Object.entries(waysToName))
  test(`sessions named by ${way} stay, and spread over all channels`, async () => {
    assert.equal((await channelsOf(format, name)).size, names.length)
  })

test('without a session each key stays on one channel', async () => {
  const used = new Set<string>()
  // Each key goes to a channel by chance; a hundred of them leave out none of the channels.
  for (let index = 0; used.size < names.length && index < 100; index++) {
    const { key } = await gateway.createAccount()
    const first = await channelOf('chat', { key })
    assert.equal(await channelOf('chat', { key }), first)
    used.add(first)
  }
  assert.equal(used.size, names.length)
})

test('a name of more than 256 bytes, or an empty one, names no session', async () => {
  const plain = await channelOf('chat', {})
  for (let index = 0; index < 8; index++)
    for (const text of ['', `${index}${'x'.repeat(256)}`])
      assert.equal(await channelOf('chat', { fields: { prompt_cache_key: text } }), plain)
})

test('the same session of another account is another conversation', async () => {
  const used = new Set<string>()
  for (let index = 0; used.size < names.length && index < 100; index++) {
    const { key } = await gateway.createAccount()
    used.add(await channelOf('chat', { key, fields: { prompt_cache_key: 'shared' } }))
  }
  assert.equal(used.size, names.length)
})

test('an account with more than twenty running and no session spreads; a session stays', async () => {
  const session = { fields: { prompt_cache_key: 'kept' } }
  const kept = await channelOf('chat', session)
  const held: Ask = { format: 'chat', isStream: true, sandbox: 'hold=all@first_output' }
  const running = Array.from({ length: 21 }, () => openAsk(gateway.url, gateway.account.key, held))
  await Promise.all(running.map((client) => client.until((text) => text !== '')))
  const used = new Set<string>()
  for (let index = 0; index < 24; index++) used.add(await channelOf('chat', {}))
  assert.equal(used.size, names.length)
  assert.equal(await channelOf('chat', session), kept)
  gateway.sandbox.faults.release('all')
  await Promise.all(running.map(({ ended }) => ended))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsOf } from '../http/wire/fields.ts'
import { clientFacts, clientFamily, recordedAddress } from './client-facts.ts'

test('names the family of programs by their user agent', () => {
  const families: Readonly<Record<string, string>> = {
    'Anthropic/JS 1.11.0': 'anthropic-js',
    'AsyncAnthropic/Python 0.79.0': 'anthropic-python',
    'Anthropic/Go 1.2.3': 'anthropic-sdk',
    'OpenAI/JS 7.55.0': 'openai-js',
    'AsyncOpenAI/Python 3.1.0': 'openai-python',
    'AzureOpenAI/Python 3.1.0': 'openai-python',
    'ai-sdk/openai/3.0.0 runtime/node.js/26': 'ai-sdk',
    'ai/7.0.1 ai-sdk/provider-utils/5.0.0': 'ai-sdk',
    'claude-cli/2.1.329 (external, sdk-cli)': 'claude-code',
    'codex_cli_rs/0.80.0 (Debian 13; x86_64)': 'codex',
    'curl/8.14.1': 'curl',
    'python-requests/2.32.5': 'python-requests',
    'Python/3.14 aiohttp/3.13.2': 'python-aiohttp',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/142.0': 'browser',
    'Mozilla/5.0 AppleWebKit/537.36 Chrome/142.0 Electron/39.0': 'electron',
    node: 'node',
    'something of its owner/1.0': '',
    '': '',
  }
  for (const [userAgent, family] of Object.entries(families))
    assert.equal(clientFamily(userAgent), family, userAgent)
  assert.equal(clientFamily(undefined), '')
})

test('keeps nothing of what a client invents', () => {
  for (let index = 0; index < 2_000; index++) assert.equal(clientFamily(`secret ${index}`), '')
  assert.equal(clientFamily('curl/8.0'), 'curl')
})

test('records as much of an address as is allowed', () => {
  const addresses = ['192.0.2.77', '2001:db8:1:2:3::4', undefined]
  const recorded = (['none', 'family', 'network', 'full'] as const).map((mode) =>
    addresses.map((address) => recordedAddress(address, mode)),
  )
  assert.deepEqual(recorded, [
    ['', '', ''],
    ['ipv4', 'ipv6', ''],
    ['192.0.2.0/24', '2001:db8:1:2::/64', ''],
    ['192.0.2.77', '2001:db8:1:2:3::4', ''],
  ])
  const fields = fieldsOf(['X-Turnpike-Label', 'team-a'])
  const request = { header: () => 'curl/8.0', fields, clientAddress: '192.0.2.77' }
  assert.deepEqual(clientFacts(request, 'family'), {
    client: 'curl',
    address: 'ipv4',
    label: 'team-a',
  })
})

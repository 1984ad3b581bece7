/**
 * How far below zero an account of 1 USD can get by requests whose bodies hide what they cost, with vendors
 * that count as much as they are believed. What it measures is the table in docs/security.md;
 * `TURNPIKE_WRITE_TRICKS=1` writes it there.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { it } from 'node:test'
import { demoCatalogue } from '../../sandbox/demo.ts'
import { formatPage } from '../../site/format.ts'
import { usage } from '../support/http-client.ts'
import { assertClean } from '../support/money.ts'
import { type Ask, sendAsk } from '../support/requests.ts'
import { type Scenario, withScenario } from '../support/scenario.ts'

const base64 = (bytes: number): string => 'QUJD'.repeat(bytes / 3)
const address = 'https://site.example/a'
const say = (...parts: object[]): object => ({ messages: [{ role: 'user', content: parts }] })
const file = (data: string): object => ({ type: 'file', file: { file_data: data } })
const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${base64(300)}` } }
const pdf = { type: 'base64', media_type: 'application/pdf', data: base64(7_134) }
const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 2 }

interface Trick extends Pick<Ask, 'format' | 'prompt' | 'maxTokens'> {
  readonly name: string
  readonly more?: object
  /** The vendor's count for each request. */
  readonly counts: string
}

const tricks: readonly Trick[] = [
  {
    name: '12 earlier spoken answers by id',
    format: 'chat',
    more: {
      messages: Array.from({ length: 12 }, (_, index) => ({
        role: 'assistant',
        audio: { id: `audio_${index}` },
      })),
    },
    counts: 'input=0; audio_in=120000; output=1',
  },
  {
    name: 'audio by address',
    format: 'chat',
    more: say({ type: 'input_audio', input_audio: { data: address, format: 'wav' } }),
    counts: 'input=0; audio_in=120000; output=1',
  },
  {
    name: 'a PDF of 7 KB, 100 pages',
    format: 'messages',
    more: say({ type: 'document', source: pdf }),
    counts: 'input=200000; output=1',
  },
  {
    name: '9 KB of a packed document, 900,000 tokens',
    format: 'chat',
    more: say(file(base64(9_000))),
    counts: 'input=900000; output=1',
  },
  {
    name: 'a document by address',
    format: 'messages',
    more: say({ type: 'document', source: { type: 'url', url: address } }),
    counts: 'input=200000; output=1',
  },
  {
    name: 'a part of a type that the gateway does not know',
    format: 'chat',
    more: say({ type: 'video_url', video_url: { url: address } }),
    counts: 'input=200000; output=1',
  },
  {
    name: 'text that carries a video',
    format: 'chat',
    more: say({ type: 'text', text: 'look', video_url: { url: address } }),
    counts: 'input=200000; output=1',
  },
  {
    name: 'compaction',
    format: 'messages',
    more: { context_management: { edits: [{ type: 'compact_20260112' }] } },
    counts: 'input=200000; output=1',
  },
  {
    name: 'a picture of 48,169 tokens',
    format: 'chat',
    more: say(image),
    counts: 'input=48169; output=1',
  },
  {
    name: '150 KB of dense text, at the prices of a long context',
    format: 'chat',
    prompt: '\u07ca'.repeat(75_000),
    counts: 'input=150000; output=1',
  },
  {
    name: 'the same, written into the vendor’s cache',
    format: 'messages',
    more: say({
      type: 'text',
      text: '\u07ca'.repeat(75_000),
      cache_control: { type: 'ephemeral' },
    }),
    counts: 'input=0; cache_write_5m=150000; output=1',
  },
  {
    name: 'many parts of one answer',
    format: 'messages',
    maxTokens: 8_000,
    more: { fallbacks: [{ model: 'dear-1' }] },
    counts: 'input=400000; output_tokens=100000; iterations=fallback_partial; other_model=dear-1',
  },
  {
    name: 'a vendor that counts a thousand million tokens',
    format: 'chat',
    counts: 'input=1000000000; output=1',
  },
  {
    name: 'a vendor that counts more output than it sends',
    format: 'chat',
    counts: 'input=10; output=1; output_tokens=64000',
  },
  {
    name: '20 answers of 8,000 tokens at once, to `max_completion_tokens: 1` that the vendor ignores',
    format: 'chat',
    more: { max_tokens: undefined, max_completion_tokens: 1 },
    // All are admitted before the first has ended.
    counts: 'output=8000; piece=the%20; ignore_limits; delay_ms=300',
  },
  {
    name: 'a tool of the vendor that reads 200,000 tokens at each of 2 uses',
    format: 'messages',
    more: { tools: [search] },
    counts: 'input=600000; output=1; web_search=2',
  },
]

function catalogue(url: string): string {
  const demo = demoCatalogue(url)
  const model = (vendor: string) => ({
    vendor,
    max_input_tokens: 200_000,
    max_output_tokens: 8_192,
    price: {
      input: 3,
      output: 15,
      cache_write_5m: 3.75,
      input_audio: 32,
      web_search: 10,
      long_context: { above: 128_000, input: 6, output: 22.5, cache_write_5m: 7.5 },
    },
  })
  const models = { 'alpha-1': model('alpha'), 'dear-1': model('alpha'), 'beta-1': model('beta') }
  const channels = Object.entries(demo.channels).map(([name, channel]) => {
    const served = channel.vendor === 'alpha' ? ['alpha-1', 'dear-1'] : ['beta-1']
    return [name, { ...channel, models: served, check: 'none' }]
  })
  const vendors = { ...demo.vendors }
  return JSON.stringify({ vendors, models, channels: Object.fromEntries(channels) as object })
}

const atOnce = 20

/** Asks until nothing is left that admits one more, and returns the balance then. */
async function worstBalance(
  gateway: Scenario,
  { name: _name, counts, ...asked }: Trick,
  holds: 'likely' | 'most',
): Promise<number> {
  const account = await gateway.createAccount({ balance_usd: '1', holds })
  const model = asked.format === 'messages' ? 'alpha-1' : 'beta-1'
  const ask = { isStream: false, model, sandbox: counts, ...asked } as Ask
  let served = 0
  for (;;) {
    const answers = await Promise.all(
      Array.from({ length: atOnce }, () => sendAsk(gateway.url, account.key, ask)),
    )
    for (const { status, body } of answers)
      assert.ok(status === 200 || status === 402, body.toString())
    const admitted = answers.filter(({ status }) => status === 200).length
    served += admitted
    await gateway.ended(account, served)
    const { balance_usd } = await usage(gateway.url, account.token)
    if (admitted === 0) return Number(balance_usd)
  }
}

const page = new URL('../../docs/security.md', import.meta.url)
const begin = '<!-- made by test/money/tricks.test.ts -->'
const end = '<!-- end -->'

it('the table in docs/security.md is what each trick comes to', () =>
  withScenario({ catalogue }, async (gateway) => {
    const rows: string[] = []
    for (const trick of tricks) {
      const likely = await worstBalance(gateway, trick, 'likely')
      const most = await worstBalance(gateway, trick, 'most')
      assert.ok(most >= 0, `${trick.name}: ${most}`)
      const shown = [likely, most].map((usd) => (usd < -0.005 ? usd.toFixed(2) : 'zero'))
      rows.push(`| ${[trick.name, ...shown].join(' | ')} |`)
    }
    const table = ['| trick | worst balance, USD | with `holds: most` |', '| --- | --- | --- |']
    table.push(...rows)
    const text = readFileSync(page, 'utf8')
    const [before = '', rest = ''] = text.split(begin)
    assert.ok(rest.includes(end), 'docs/security.md has no place for the table')
    const after = rest.slice(rest.indexOf(end))
    const written = `${before}${begin}\n\n${table.join('\n')}\n\n${after}`
    const expected = await formatPage('tricks.md', written)
    if (process.env['TURNPIKE_WRITE_TRICKS'] === '1') writeFileSync(page, expected)
    assert.equal(readFileSync(page, 'utf8'), expected)
    await assertClean(gateway)
  }))

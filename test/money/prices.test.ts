/**
 * Every class of price from the vendor's counts to the account holder's figures. The catalogue's
 * prices are chosen so that each sum can be worked by hand: a token at 3 USD per million costs
 * 3,000,000 pico-dollars, written here as `3n * M`.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it, test } from 'node:test'
import type { FormatName } from '../../src/formats/format.ts'
import { demoCatalogue } from '../../sandbox/demo.ts'
import { hasEnd } from '../support/answers.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { assertClean, chargesOf, exchangesOf, only, usd } from '../support/money.ts'
import { type Ask, formats, sendAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario, withScenario } from '../support/scenario.ts'
import { usage } from '../support/http-client.ts'
import {
  applyCatalogue,
  limitAccount,
  setAccountStatus,
  listAccountKeys,
  revokeKey,
} from '../support/operations.ts'

const M = 1_000_000n

const plainPrice = {
  input: 3,
  output: 15,
  cache_read: 0.3,
  cache_write_5m: 3.75,
  cache_write_1h: 6,
}

const prices = {
  'plain-1': plainPrice,
  'second-1': { input: 1, output: 5 },
  'edition-1-20260101': { input: 2, output: 10 },
  'edition-1-20250101': { input: 15, output: 75 },
  'bare-1': { input: 4, output: 20 },
  'fee-1': { ...plainPrice, request: 0.0025 },
  'served-1': {
    ...plainPrice,
    web_search: 10,
    tiers: { batch: { multiplier: 0.5 }, priority: { input: 4, output: 18 } },
    speeds: { fast: { multiplier: 2 } },
    geos: { us: { multiplier: 1.1 } },
  },
  'long-1': {
    ...plainPrice,
    long_context: {
      above: 1_000,
      input: 6,
      output: 22.5,
      cache_read: 0.6,
      cache_write_5m: 7.5,
      cache_write_1h: 12,
    },
  },
}

const chatPrices = {
  'talk-1': { input: 2, output: 10, cache_read: 0.2, cache_write_5m: 2.5 },
  'tiers-1': {
    input: 2,
    output: 10,
    cache_read: 0.2,
    request: 0.001,
    tiers: { flex: { multiplier: 0.5 }, priority: { input: 4, output: 20, cache_read: 0.4 } },
  },
  'far-1': {
    input: 2,
    output: 10,
    cache_read: 0.2,
    long_context: { above: 1_000, input: 4, output: 15, cache_read: 0.4 },
  },
  'voice-1': { input: 2, output: 10, cache_read: 0.2, input_audio: 32, output_audio: 64 },
}

const limits = { max_input_tokens: 200_000, max_output_tokens: 4_096, image_tokens: 25_500 }

/** `changed`: prices in place of the models' own. */
function goldenCatalogue(url: string, changed: Readonly<Record<string, unknown>> = {}): string {
  const demo = demoCatalogue(url)
  const modelsOf = (vendor: string, all: Readonly<Record<string, unknown>>): [string, unknown][] =>
    Object.entries(all).map(([id, price]) => [
      id,
      { vendor, ...limits, price: changed[id] ?? price },
    ])
  const channels = Object.entries(demo.channels).map(([name, channel]): [string, unknown] => {
    const models = Object.keys(channel.vendor === 'alpha' ? prices : chatPrices)
    return [name, { ...channel, models, check: 'none' }]
  })
  return JSON.stringify({
    vendors: { ...demo.vendors, alpha: { ...demo.vendors.alpha, allow: ['threads'] } },
    models: Object.fromEntries([...modelsOf('alpha', prices), ...modelsOf('beta', chatPrices)]),
    channels: Object.fromEntries(channels),
  })
}

interface Golden {
  readonly name: string
  readonly format: FormatName
  readonly model: string
  readonly sandbox: string
  readonly picos: bigint
  /** Input, output and cache tokens as `/v1/usage` shows them. */
  readonly figures: readonly [input: number, output: number, cache: number]
  readonly marks?: readonly string[]
  /** What the account pays of the list price. */
  readonly multiplier?: string
  /** Bounds what the vendor may count: a token per byte of the body, and 2,000. */
  readonly prompt?: string
  readonly more?: Readonly<Record<string, unknown>>
}

const goldens: readonly Golden[] = [
  {
    name: 'input and output',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=1000; output_tokens=200',
    picos: 1000n * 3n * M + 200n * 15n * M, // 0.006 USD
    figures: [1000, 200, 0],
  },
  {
    name: 'cache reads beside the input',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=100; output_tokens=10; cached=5000',
    prompt: 'word '.repeat(5_100),
    picos: 300n * M + 150n * M + 1500n * M, // 0.00195 USD
    figures: [100, 10, 5000],
  },
  {
    name: 'cache writes of five minutes and of an hour',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=10; output_tokens=10; cached=100; cache_write_5m=400; cache_write_1h=200',
    picos: 30n * M + 150n * M + 30n * M + 1500n * M + 1200n * M, // 0.00291 USD
    figures: [10, 10, 700],
  },
  {
    name: 'cache writes whose lifetime is not told, as five minutes',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=10; output_tokens=10; cache_write=400',
    picos: 30n * M + 150n * M + 1500n * M,
    figures: [10, 10, 400],
  },
  {
    name: 'cache writes whose lifetime is not told, as an hour where the request asks for that',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=10; output_tokens=10; cache_write=400',
    more: {
      system: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral', ttl: '1h' } }],
    },
    picos: 30n * M + 150n * M + 2400n * M,
    figures: [10, 10, 400],
  },
  {
    name: 'cache classes that the catalogue has no price for, by the published relations',
    format: 'messages',
    model: 'bare-1',
    sandbox: 'input=10; output_tokens=10; cached=100; cache_write_5m=100; cache_write_1h=100',
    picos: 40n * M + 200n * M + 400n * M + 500n * M + 800n * M,
    figures: [10, 10, 300],
    marks: ['default_price'],
  },
  {
    name: 'hidden thinking as output',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=10; output=5; reasoning=95',
    picos: 30n * M + 1500n * M,
    figures: [10, 100, 0],
  },
  {
    name: 'a fee per request, once',
    format: 'messages',
    model: 'fee-1',
    sandbox: 'input=10; output_tokens=10',
    picos: 30n * M + 150n * M + 2_500_000_000n,
    figures: [10, 10, 0],
  },
  {
    name: 'a tier with a factor',
    format: 'messages',
    model: 'served-1',
    sandbox: 'input=100; output_tokens=100; tier=batch',
    picos: (300n * M + 1500n * M) / 2n,
    figures: [100, 100, 0],
  },
  {
    // The tier names no cache price, so a cache read keeps its tenth of the input: 0.4.
    name: 'a tier with prices of its own',
    format: 'messages',
    model: 'served-1',
    sandbox: 'input=100; output_tokens=100; cached=1000; tier=priority',
    picos: 400n * M + 1800n * M + 400n * M,
    figures: [100, 100, 1000],
  },
  {
    name: 'speed and region, multiplied',
    format: 'messages',
    model: 'served-1',
    sandbox: 'input=100; output_tokens=100; speed=fast; geo=us',
    picos: ((300n * M + 1500n * M) * 22n) / 10n,
    figures: [100, 100, 0],
  },
  {
    name: 'searches on the web, which no factor touches',
    format: 'messages',
    model: 'served-1',
    sandbox: 'input=100; output_tokens=100; web_search=3; speed=fast',
    more: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 10 }] },
    picos: (300n * M + 1500n * M) * 2n + 3n * 10_000n * M,
    figures: [100, 100, 0],
  },
  {
    name: 'searches on the web that the request asks for',
    format: 'messages',
    model: 'served-1',
    sandbox: 'input=60000; output_tokens=100; web_search=3',
    more: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 10 }] },
    picos: 180_000n * M + 1500n * M + 3n * 10_000n * M,
    figures: [60_000, 100, 0],
  },
  {
    name: 'pages that a tool of the vendor has put before the model',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=60000; output_tokens=100',
    more: { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] },
    picos: 180_000n * M + 1500n * M,
    figures: [60_000, 100, 0],
  },
  {
    name: 'more pages than the model reads at once, through a loop of tools',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=400000; output_tokens=100',
    more: { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] },
    picos: 1_200_000n * M + 1500n * M,
    figures: [400_000, 100, 0],
    marks: ['over_hold'],
  },
  {
    name: 'a thread that the vendor keeps',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=120000; output_tokens=20',
    more: { thread: { id: 'thread_1' } },
    picos: 360_000n * M + 300n * M,
    figures: [120_000, 20, 0],
  },
  {
    name: 'a document of many pages behind an address',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=150000; output_tokens=100',
    more: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'url', url: 'https://site.example/a.pdf' } },
          ],
        },
      ],
    },
    picos: 450_000n * M + 1500n * M,
    figures: [150_000, 100, 0],
  },
  {
    name: 'an image that a model of chat counts for many tokens',
    format: 'chat',
    model: 'talk-1',
    sandbox: 'input=25520; output_tokens=10',
    more: {
      messages: [
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'https://site.example/a.png' } }],
        },
      ],
    },
    picos: 51_040n * M + 100n * M,
    figures: [25_520, 10, 0],
  },
  {
    name: 'a prompt at the threshold of long contexts, at the usual prices',
    format: 'messages',
    model: 'long-1',
    sandbox: 'input=400; cached=600; output_tokens=10',
    picos: 1200n * M + 180n * M + 150n * M,
    figures: [400, 10, 600],
  },
  {
    name: 'a prompt above the threshold, cache included, wholly at the long prices',
    format: 'messages',
    model: 'long-1',
    sandbox: 'input=401; cached=600; output_tokens=10',
    picos: 2406n * M + 360n * M + 225n * M,
    figures: [401, 10, 600],
  },
  {
    name: 'a compaction that the top-level counts leave out',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=100; output_tokens=10; iterations=compaction',
    picos: 500n * 3n * M + 50n * 15n * M + 300n * M + 150n * M,
    figures: [100, 10, 0],
  },
  {
    name: 'an advisor at the price of its own model',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=100; output_tokens=10; iterations=advisor; other_model=second-1',
    picos: 300n * M + 150n * M + 300n * 1n * M + 40n * 5n * M,
    figures: [100, 10, 0],
  },
  {
    name: 'a fallback that answered in place of the model, which declined for nothing',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=100; output_tokens=10; iterations=fallback; other_model=second-1',
    picos: 100n * 1n * M + 10n * 5n * M,
    figures: [100, 10, 0],
  },
  {
    name: 'a fallback to another edition of the model, at the price of that edition',
    format: 'messages',
    model: 'edition-1-20260101',
    sandbox: 'input=100; output_tokens=10; iterations=fallback; other_model=edition-1-20250101',
    more: { fallbacks: [{ model: 'edition-1-20250101' }] },
    picos: 100n * 15n * M + 10n * 75n * M,
    figures: [100, 10, 0],
  },
  {
    name: 'a fallback after the model had begun, both charged',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=100; output_tokens=10; iterations=fallback_partial; other_model=second-1',
    picos: 100n * 3n * M + 7n * 15n * M + 100n * 1n * M + 10n * 5n * M,
    figures: [100, 10, 0],
  },
  {
    name: 'an account that pays 120 % of the list price',
    format: 'messages',
    model: 'plain-1',
    sandbox: 'input=100; output_tokens=10; cached=1',
    multiplier: '1.2',
    picos: ((300n * M + 150n * M + 300_000n) * 12n) / 10n,
    figures: [100, 10, 1],
  },
  {
    name: 'prompt and completion',
    format: 'chat',
    model: 'talk-1',
    sandbox: 'input=1000; output_tokens=200',
    picos: 2000n * M + 2000n * M,
    figures: [1000, 200, 0],
  },
  {
    name: 'cached tokens, which are part of the prompt',
    format: 'chat',
    model: 'talk-1',
    sandbox: 'input=100; cached=900; output_tokens=10',
    picos: 200n * M + 180n * M + 100n * M,
    figures: [1000, 10, 900],
  },
  {
    name: 'cache-write tokens of chat, which are part of the prompt',
    format: 'chat',
    model: 'talk-1',
    sandbox: 'input=100; cached=500; cache_write=400; output_tokens=10',
    picos: 200n * M + 100n * M + 1000n * M + 100n * M,
    figures: [1000, 10, 500],
  },
  {
    name: 'reasoning, which is part of the completion',
    format: 'chat',
    model: 'talk-1',
    sandbox: 'input=100; output=5; reasoning=95',
    picos: 200n * M + 1000n * M,
    figures: [100, 100, 0],
  },
  {
    name: 'tokens of sound at their own prices',
    format: 'chat',
    model: 'voice-1',
    sandbox: 'input=100; audio_in=50; audio_out=30; output=20; content=text,audio',
    picos: 200n * M + 50n * 32n * M + 20n * 10n * M + 30n * 64n * M,
    figures: [150, 50, 0],
  },
  {
    name: 'a flex tier with a fee, which no factor touches',
    format: 'chat',
    model: 'tiers-1',
    sandbox: 'input=100; output_tokens=10; tier=flex',
    picos: (200n * M + 100n * M) / 2n + 1_000_000_000n,
    figures: [100, 10, 0],
  },
  {
    name: 'a priority tier with prices of its own',
    format: 'chat',
    model: 'tiers-1',
    sandbox: 'input=100; cached=100; output_tokens=10; tier=priority',
    picos: 400n * M + 40n * M + 200n * M + 1_000_000_000n,
    figures: [200, 10, 100],
  },
  {
    name: 'a prompt above the threshold of long contexts',
    format: 'chat',
    model: 'far-1',
    sandbox: 'input=1; cached=1000; output_tokens=10',
    picos: 4n * M + 400n * M + 150n * M,
    figures: [1001, 10, 1000],
  },
  {
    name: 'an account that pays half of the list price, rounded up to a whole pico-dollar',
    format: 'chat',
    model: 'talk-1',
    sandbox: 'input=1; output_tokens=1',
    multiplier: '0.333333',
    picos: 3_999_996n, // 12,000,000 × 0.333333
    figures: [1, 1, 0],
  },
]

describe('the charge and /v1/usage show exactly the amounts computed by hand', () => {
  let gateway: Scenario
  before(async () => {
    // On a day that does not end while the figures of the day are compared.
    const clock = new ManualClock()
    gateway = await scenario({ clock, catalogue: (url) => goldenCatalogue(url) })
  })
  after(async () => {
    await assertClean(gateway)
    await gateway.close()
  })
  for (const golden of goldens)
    for (const isStream of [false, true])
      it(`${golden.format}, ${isStream ? 'streamed' : 'whole'}: ${golden.name}`, () =>
        assertGolden(gateway, golden, isStream))
})

async function assertGolden(gateway: Scenario, golden: Golden, isStream: boolean): Promise<void> {
  const account = await gateway.createAccount({
    balance_usd: '5',
    ...(golden.multiplier === undefined ? {} : { price_multiplier: golden.multiplier }),
  })
  const ask: Ask = { ...golden, isStream, maxTokens: 1_000 }
  const answer = await sendAsk(gateway.url, account.key, ask)
  assert.ok(hasEnd(answer, ask), answer.body.toString())
  const figures = await usage(gateway.url, account.token)
  const [input_tokens, output_tokens, cache_tokens] = golden.figures
  const cost_usd = usd(golden.picos)
  assert.deepEqual(figures['usage'], {
    input_tokens,
    output_tokens,
    cache_tokens,
    requests: 1,
    cost_usd,
  })
  assert.deepEqual(figures['by_model'], [
    { model: golden.model, requests: 1, input_tokens, output_tokens, cost_usd },
  ])
  assert.equal(figures['balance_usd'], usd(5n * M * M - golden.picos))
  const exchange = only(await gateway.ended(account, 1))
  assert.equal(exchange.amountPicos, golden.picos)
  assert.deepEqual(exchange.marks, golden.marks ?? [])
  const charges = await chargesOf(gateway.context.database, account.id)
  assert.deepEqual([...charges], [[exchange.exchangeId, golden.picos]])
}

for (const format of formats)
  test(`a price change in the middle of an answer affects later requests only (${format})`, async () => {
    await withScenario({ catalogue: (url) => goldenCatalogue(url) }, async (gateway) => {
      const account = await gateway.createAccount()
      const model = format === 'messages' ? 'plain-1' : 'talk-1'
      const sandbox = 'input=100; output_tokens=10'
      const ask: Ask = { format, model, isStream: true, sandbox }
      const running = sendAsk(gateway.url, account.key, {
        ...ask,
        sandbox: `${sandbox}; hold=g@mid`,
      })
      await gateway.sandbox.faults.reached('g')
      const dearer = { [model]: { input: 30, output: 150 } }
      const text = goldenCatalogue(gateway.sandbox.url, dearer)
      const applied = await applyCatalogue(gateway.context, { text: text })
      assert.equal(applied.kind, 'applied')
      await gateway.app.refresh()
      gateway.sandbox.faults.release('g')
      assert.ok(hasEnd(await running, ask))
      assert.ok(hasEnd(await sendAsk(gateway.url, account.key, ask), ask))
      const [first, second] = await gateway.ended(account, 2)
      const before = format === 'messages' ? 300n * M + 150n * M : 200n * M + 100n * M
      assert.equal(first?.amountPicos, before)
      assert.equal(second?.amountPicos, 3_000n * M + 1_500n * M)
      // Each charge can still be added up from the prices it was made with.
      assert.match(first.priceLines, format === 'messages' ? /"3000000"/ : /"2000000"/)
      assert.match(second.priceLines, /"30000000"/)
    })
  })

const changes: readonly {
  readonly name: string
  readonly change: (gateway: Scenario, account: TestAccount) => Promise<unknown>
  readonly later: number
}[] = [
  {
    name: 'a key that is revoked',
    change: async (gateway, account) => {
      const [key] = await listAccountKeys(gateway.context, {
        account: account.name,
        kind: 'client',
      })
      return revokeKey(gateway.context, { kind: 'client', id: key?.id })
    },
    later: 401,
  },
  {
    name: 'an account that is suspended',
    change: (gateway, { name }) =>
      setAccountStatus(gateway.context, { account: name, status: 'suspended' }),
    later: 403,
  },
  {
    name: 'a daily limit that is lowered',
    change: (gateway, { name }) =>
      limitAccount(gateway.context, { account: name, daily_usd: '0.000001' }),
    later: 429,
  },
  {
    name: 'a price multiplier that is raised',
    change: (gateway, { name }) =>
      limitAccount(gateway.context, { account: name, price_multiplier: '2' }),
    later: 200,
  },
]

for (const { name, change, later } of changes)
  test(`${name} in the middle of an answer does not change that answer's price`, async () => {
    await withScenario({ catalogue: (url) => goldenCatalogue(url) }, async (gateway) => {
      const account = await gateway.createAccount()
      const ask: Ask = { format: 'chat', model: 'talk-1', isStream: true }
      const sandbox = 'input=100; output_tokens=10; hold=g@mid'
      const running = sendAsk(gateway.url, account.key, { ...ask, sandbox })
      await gateway.sandbox.faults.reached('g')
      await change(gateway, account)
      await gateway.app.refresh()
      gateway.sandbox.faults.release('g')
      assert.ok(hasEnd(await running, ask))
      assert.equal((await sendAsk(gateway.url, account.key, ask)).status, later)
      const [first] = await exchangesOf(gateway.context.database, account.id)
      assert.equal(first?.amountPicos, 200n * M + 100n * M)
    })
  })

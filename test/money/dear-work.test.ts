/**
 * Requests that ask for more than text: searches, sound, other models. What they may cost is set aside
 * beforehand, so that however many run at once, a balance is not overspent; and a key's models are all
 * that can answer it.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { demoCatalogue } from '../../sandbox/demo.ts'
import { eventCount, usage } from '../support/http-client.ts'
import { assertClean, only } from '../support/money.ts'
import { type Ask, openAsk, sendAsk } from '../support/requests.ts'
import { type Scenario, withScenario } from '../support/scenario.ts'
import { createClientKey } from '../support/operations.ts'

const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 10 }

/** Each asks for up to 100 tokens and costs what its directives say. */
const dear: readonly (Ask & { readonly name: string })[] = [
  {
    name: 'searches on the web',
    format: 'messages',
    isStream: true,
    model: 'small-1',
    more: { tools: [search] },
    sandbox: 'input=10; output_tokens=10; web_search=10',
  },
  {
    name: 'spoken answers',
    format: 'chat',
    isStream: false,
    model: 'voice-1',
    more: { modalities: ['text', 'audio'], audio: { voice: 'a', format: 'wav' } },
    sandbox: 'input=10; audio_out=90; output=10; content=text,audio',
  },
  {
    name: 'a dearer model that takes over',
    format: 'messages',
    isStream: true,
    model: 'small-1',
    more: { fallbacks: [{ model: 'large-1' }] },
    sandbox: 'input=10; output_tokens=100; iterations=fallback_partial; other_model=large-1',
  },
  {
    name: 'a dearer model that advises',
    format: 'messages',
    isStream: false,
    model: 'small-1',
    more: { tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'large-1' }] },
    sandbox: 'input=10; output_tokens=100; iterations=advisor; other_model=large-1',
  },
]

const withDearWork = (work: Parameters<typeof withScenario>[1]): Promise<void> =>
  withScenario({ catalogue: dearCatalogue }, work)

describe('a balance is not exceeded by', () => {
  for (const { name, ...ask } of dear)
    it(name, () =>
      withDearWork(async (gateway) => {
        const account = await gateway.createAccount({ balance_usd: '0.25' })
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => sendAsk(gateway.url, account.key, ask)),
        )
        const statuses = new Set(answers.map(({ status }) => status))
        assert.deepEqual(statuses, new Set([200, 402]))
        const { balance_usd } = await usage(gateway.url, account.token)
        assert.ok(Number(balance_usd) >= 0, `the balance is ${String(balance_usd)}`)
      }),
    )
})

const fetch = { type: 'web_fetch_20250910', name: 'web_fetch' }
const address = 'https://site.example/a.pdf'
const remote = { type: 'document', source: { type: 'url', url: address } }

/** Each is likely to cost a little, reads 200,000 tokens that are not in its body, and costs `usd`. */
const reading: readonly (Ask & { readonly name: string; readonly usd: number })[] = [
  {
    name: 'pages that the vendor fetches',
    usd: 0.750015,
    format: 'messages',
    isStream: true,
    more: { tools: [{ ...fetch, max_uses: 1 }] },
    sandbox: 'input=0; cache_write_5m=200000; output=1',
  },
  {
    name: 'documents by address',
    usd: 0.600015,
    format: 'messages',
    isStream: false,
    more: { messages: [{ role: 'user', content: [remote] }] },
    sandbox: 'input=200000; output=1',
  },
  {
    name: 'files by address',
    usd: 0.600015,
    format: 'chat',
    isStream: true,
    more: {
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: address } }] }],
    },
    sandbox: 'input=200000; output=1',
  },
]

/** Sends many at once from an account of 1 USD, and returns its balance behind them. */
async function balanceAfter(
  gateway: Scenario,
  { sandbox, ...ask }: Ask,
  holds: 'likely' | 'most',
): Promise<number> {
  for (const channel of ['alpha-main', 'beta-main'])
    gateway.sandbox.faults.set(channel, String(sandbox))
  const account = await gateway.createAccount({ balance_usd: '1', holds })
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => sendAsk(gateway.url, account.key, ask)),
  )
  const statuses = new Set(answers.map(({ status }) => status))
  if (holds === 'likely') assert.deepEqual(statuses, new Set([200, 402]))
  const poor = answers.find(({ status }) => status === 402)
  assert.match(String(poor?.body), /can add up to 200000 tokens/)
  await gateway.ended(account, answers.filter(({ status }) => status === 200).length)
  const { balance_usd } = await usage(gateway.url, account.token)
  return Number(balance_usd)
}

describe('a hundred requests at once from a balance of 1 USD', () => {
  for (const { name, usd, ...ask } of reading) {
    it(`pass zero by one of them at most: ${name}`, () =>
      withScenario({ catalogue: readingCatalogue }, async (gateway) => {
        const balance = await balanceAfter(gateway, ask, 'likely')
        assert.ok(balance < 0 && balance >= -usd, `the balance is ${balance}`)
      }))

    it(`do not pass zero where the most has to be left: ${name}`, () =>
      withScenario({ catalogue: readingCatalogue }, async (gateway) => {
        const balance = await balanceAfter(gateway, ask, 'most')
        assert.ok(balance >= 0, `the balance is ${balance}`)
      }))
  }
})

/** The sandbox's, whose models read 200,000 tokens at once. */
function readingCatalogue(url: string): string {
  const demo = demoCatalogue(url)
  const models = Object.entries(demo.models).map(([id, model]) => [
    id,
    { ...model, max_input_tokens: 200_000 },
  ])
  return JSON.stringify({ ...demo, models: Object.fromEntries(models) as object })
}

it('a loop of tools that reads more than the model reads at once is charged, marked and explained', () =>
  withScenario({}, async (gateway) => {
    const account = await gateway.createAccount({ balance_usd: '1' })
    const ask: Ask = { format: 'messages', isStream: true, more: { tools: [fetch] } }
    const answer = await sendAsk(gateway.url, account.key, {
      ...ask,
      sandbox: 'input=900000; output_tokens=1',
    })
    assert.equal(answer.status, 200)
    const exchange = only(await gateway.ended(account, 1))
    assert.equal(exchange.amountPicos, 900_000n * 3_000_000n + 15_000_000n)
    assert.deepEqual(exchange.marks, ['over_hold'])
    const { balance_usd } = await usage(gateway.url, account.token)
    assert.ok(Number(balance_usd) < 0)
    assert.equal((await sendAsk(gateway.url, account.key, ask)).status, 402)
    await assertClean(gateway)
  }))

it('the hold follows the number of tokens that the catalogue gives for a model', () =>
  withDearWork(async (gateway) => {
    const account = await gateway.createAccount({ balance_usd: '0.01', holds: 'most' })
    const ask: Ask = { format: 'messages', isStream: false, model: 'small-1', maxTokens: 16 }
    const tools = [{ ...fetch, max_uses: 1 }]
    const fetching = await sendAsk(gateway.url, account.key, { ...ask, more: { tools } })
    assert.equal(fetching.status, 200)
    // The other model reads as much, at a hundred times the price.
    const more = { tools, fallbacks: [{ model: 'large-1' }] }
    const dearer = await sendAsk(gateway.url, account.key, { ...ask, more })
    assert.equal(dearer.status, 402)
    assert.match(dearer.body.toString(), /can add up to 1000 tokens/)
  }))

it('tools that the vendor runs are refused where the vendor says so', () => {
  const catalogue = (url: string): string => {
    const demo = demoCatalogue(url)
    const alpha = { ...demo.vendors.alpha, allow: ['no_server_tools'] }
    return JSON.stringify({ ...demo, vendors: { ...demo.vendors, alpha } })
  }
  return withScenario({ catalogue }, async (gateway) => {
    const servers = [{ type: 'url', url: 'https://tools.example', name: 'a' }]
    for (const more of [{ tools: [fetch] }, { mcp_servers: servers }]) {
      const answer = await gateway.ask({ format: 'messages', isStream: false, more })
      assert.equal(answer.status, 400)
      assert.match(answer.text, /not available here/)
    }
    const own = { tools: [{ name: 'f', input_schema: { type: 'object' } }] }
    const more = { ...own, messages: [{ role: 'user', content: [remote] }] }
    assert.equal((await gateway.ask({ format: 'messages', isStream: false, more })).status, 200)
  })
})

describe('a client that leaves pays for the delivered', () => {
  const left = async (ask: Ask, hasAll: (text: string) => boolean): Promise<unknown> => {
    const settings = { client_left_grace: '0s' }
    let used: unknown
    await withScenario({ catalogue: dearCatalogue, settings }, async (gateway) => {
      const account = await gateway.createAccount()
      const client = openAsk(gateway.url, account.key, ask)
      await client.until(hasAll)
      client.leave()
      const exchange = only(await gateway.ended(account, 1))
      assert.equal(exchange.marks[0], 'estimated')
      assert.ok(!exchange.marks.includes('over_hold'))
      used = exchange.usage?.parts.map(({ counts }) => counts)
    })
    return used
  }

  it('searches, by the delivered results', async () => {
    const ask: Ask = {
      format: 'messages',
      isStream: true,
      model: 'small-1',
      more: { tools: [search] },
      sandbox: 'content=search,text; input=10; output=60; stall_event=40',
    }
    const [counts] = (await left(ask, (text) => text.includes('search_tool_result'))) as [object]
    assert.deepEqual(counts, { ...counts, input: 10, web_search: 1 })
  })

  it('audio, in both directions', async () => {
    const data = 'QUJD'.repeat(1_600)
    const content = [{ type: 'input_audio', input_audio: { data, format: 'mp3' } }]
    const ask: Ask = {
      format: 'chat',
      isStream: true,
      model: 'voice-1',
      more: {
        modalities: ['text', 'audio'],
        audio: { voice: 'a', format: 'pcm16' },
        messages: [{ role: 'user', content }],
      },
      sandbox: 'content=audio; stall_event=4',
    }
    const [counts] = (await left(ask, (text) => eventCount(text) >= 4)) as [object]
    assert.deepEqual(counts, { ...counts, input_audio: 3, output_audio: 1 })
  })
})

describe("only a key's allowed models may answer it", () => {
  for (const named of ['large-1', 'no-such-model'])
    for (const more of [
      { fallbacks: [{ model: named }] },
      { fallbacks: [named] },
      { tools: [{ type: 'advisor_20260301', name: 'advisor', model: named }] },
    ])
      it(`and not ${JSON.stringify(more)}`, () =>
        withDearWork(async (gateway) => {
          const { name } = await gateway.createAccount()
          const wish = { account: name, name: 'small', models: ['small-1'] }
          const key = await createClientKey(gateway.context, wish)
          const ask: Ask = { format: 'messages', isStream: false, model: 'small-1' }
          assert.equal((await sendAsk(gateway.url, key.secret, ask)).status, 200)
          gateway.sandbox.log.clear()
          const refused = await sendAsk(gateway.url, key.secret, { ...ask, more })
          assert.equal(refused.status, named === 'large-1' ? 400 : 404)
          assert.match(refused.body.toString(), new RegExp(`${named}.*beside \`model\``))
          assert.equal(gateway.sandbox.log.records.length, 0)
        }))
})

function dearCatalogue(url: string): string {
  const { vendors, channels } = demoCatalogue(url)
  const serving = Object.entries(channels).map(([name, channel]) => {
    const models = channel.vendor === 'alpha' ? ['small-1', 'large-1'] : ['voice-1']
    return [name, { ...channel, models, check: 'none' }] as const
  })
  return JSON.stringify({
    vendors,
    models: {
      'small-1': {
        vendor: 'alpha',
        max_input_tokens: 1_000,
        price: { input: 1, output: 5, web_search: 10 },
      },
      'large-1': {
        vendor: 'alpha',
        max_input_tokens: 1_000,
        price: { input: 100, output: 500 },
      },
      'voice-1': { vendor: 'beta', price: { input: 2, output: 10, output_audio: 1000 } },
    },
    channels: Object.fromEntries(serving),
  })
}

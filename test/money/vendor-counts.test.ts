/**
 * Counts that vendors get wrong, leave out or put elsewhere, and answers with nothing in them.
 * Goal: a count that can be believed is charged to the token wherever it stands; any other keeps
 * the charge within the hold, marked; an answer without content is free.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { FormatName } from '../../src/formats/format.ts'
import { usage } from '../support/http-client.ts'
import { hasEnd, hasTerminalEvent } from '../support/answers.ts'
import { assertClean, chargesOf, holdBound, only, vendorPrice } from '../support/money.ts'
import { type Ask, formats, places, sendAsk } from '../support/requests.ts'
import { type Scenario, scenario, withScenario } from '../support/scenario.ts'

const maxTokens = 200
const both = [true, false] as const

interface Case {
  readonly name: string
  readonly sandbox: string
  readonly formats?: readonly FormatName[]
  readonly streamed?: readonly boolean[]
  /**
   * What is charged: the vendor's own count; something within the hold, with one of these marks;
   * or nothing.
   */
  readonly charged: 'exactly' | 'nothing' | readonly string[]
}

const content = 'output=12; piece=the%20'

const cases: readonly Case[] = [
  { name: 'no count', sandbox: `${content}; usage=none`, charged: ['estimated'] },
  { name: 'a count of null', sandbox: `${content}; usage=null`, charged: ['estimated'] },
  { name: 'zeros', sandbox: `${content}; usage=zero`, charged: ['estimated'] },
  {
    name: 'negative numbers',
    sandbox: `${content}; usage=negative`,
    charged: ['estimated', 'implausible'],
  },
  {
    name: 'fractions',
    sandbox: `${content}; usage=fractional`,
    charged: ['estimated', 'implausible'],
  },
  { name: 'text', sandbox: `${content}; usage=text`, charged: ['estimated', 'implausible'] },
  {
    name: 'a number beyond all exact ones',
    sandbox: `${content}; usage=huge`,
    charged: ['estimated', 'implausible'],
  },
  {
    name: 'more output than was asked for',
    sandbox: `${content}; output_tokens=5000`,
    charged: ['implausible'],
  },
  {
    name: 'more input than the request has bytes for',
    sandbox: `${content}; input=500000`,
    charged: ['implausible'],
  },
  {
    name: 'searches that nothing in the request can have made',
    sandbox: `${content}; web_search=1; input=4000000`,
    formats: ['messages'],
    charged: ['implausible'],
  },
  {
    name: 'counts that fall',
    sandbox: `${content}; usage=falling`,
    streamed: [true],
    charged: ['implausible'],
  },
  { name: 'a count told twice', sandbox: `${content}; usage=twice`, charged: 'exactly' },
  {
    name: 'running counts in the middle',
    sandbox: `${content}; late_content`,
    formats: ['messages'],
    charged: 'exactly',
  },
  {
    name: 'cache writes that show in the final count only',
    sandbox: `${content}; cache_write_late=300`,
    formats: ['messages'],
    streamed: [true],
    charged: 'exactly',
  },
  {
    name: 'a count without details',
    sandbox: `${content}; usage=bare`,
    formats: ['chat'],
    charged: 'exactly',
  },
  {
    name: 'the count on the finish chunk',
    sandbox: `${content}; usage_at=finish`,
    formats: ['chat'],
    streamed: [true],
    charged: 'exactly',
  },
  {
    name: 'the count on every chunk',
    sandbox: `${content}; usage_at=every`,
    formats: ['chat'],
    streamed: [true],
    charged: 'exactly',
  },
  {
    name: 'the count behind the end',
    sandbox: `${content}; usage_at=after_done`,
    formats: ['chat'],
    streamed: [true],
    charged: 'exactly',
  },
  {
    name: 'the end told twice',
    sandbox: `${content}; terminal=twice`,
    streamed: [true],
    charged: 'exactly',
  },
  {
    name: 'an end without its blank line',
    sandbox: `${content}; terminal=unfinished`,
    streamed: [true],
    charged: 'exactly',
  },
  {
    name: 'bytes behind the end',
    sandbox: `${content}; after_terminal=data: {"usage":{"output_tokens":99999}}%0A%0A`,
    streamed: [true],
    charged: 'exactly',
  },
  { name: 'an answer without output', sandbox: 'output=0', charged: 'nothing' },
  {
    name: 'output that the vendor counted and did not send',
    sandbox: 'output=0; output_tokens=1',
    charged: 'exactly',
  },
  {
    name: 'nothing before a stop sequence that was met, which is the answer then',
    sandbox: 'output=0; output_tokens=1; stop=stop_sequence',
    formats: ['messages'],
    charged: 'exactly',
  },
  { name: 'a refusal before any output', sandbox: 'refusal=empty', charged: 'nothing' },
  { name: 'a refusal after some output', sandbox: 'refusal=partial', charged: 'exactly' },
  {
    name: 'no visible output but hidden thinking',
    sandbox: 'output=0; reasoning=60',
    charged: 'exactly',
  },
]

for (const format of formats)
  describe(`a ${format} answer with`, () => {
    let gateway: Scenario
    before(async () => {
      gateway = await scenario()
    })
    after(async () => {
      await assertClean(gateway)
      await gateway.close()
    })
    for (const one of cases) {
      if (one.formats?.includes(format) === false) continue
      for (const isStream of one.streamed ?? both)
        it(`${one.name}, ${isStream ? 'streamed' : 'whole'}`, () =>
          assertCase(gateway, { format, isStream, maxTokens, sandbox: one.sandbox }, one))
    }
  })

async function assertCase(gateway: Scenario, plain: Ask, one: Case): Promise<void> {
  const account = await gateway.createAccount()
  const marker = account.name
  const answer = await sendAsk(gateway.url, account.key, { ...plain, marker })
  assert.ok(hasEnd(answer, plain), answer.body.toString())
  const exchange = only(await gateway.ended(account, 1))
  const [record] = gateway.sandbox.log.forMarker(marker)
  assert.ok(record !== undefined)
  assert.equal(exchange.ending, 'completed')
  if (one.charged === 'exactly') {
    assert.equal(exchange.amountPicos, vendorPrice(record))
    assert.deepEqual(exchange.marks.filter(isDoubt), [])
  } else if (one.charged === 'nothing') {
    assert.equal(exchange.amountPicos, 0n)
  } else {
    const { charged } = one
    assert.ok(exchange.amountPicos > 0n)
    assert.ok(exchange.amountPicos <= holdBound(record, maxTokens))
    assert.ok(
      exchange.marks.some((mark) => charged.includes(mark)),
      exchange.marks.join(),
    )
  }
  const isCharged = one.charged !== 'nothing'
  assert.equal((await chargesOf(gateway.context.database, account.id)).size, isCharged ? 1 : 0)
  const figures = await usage(gateway.url, account.token, 'total')
  const shown = figures['usage'] as Readonly<Record<string, number>>
  assert.equal(shown['requests'], isCharged ? 1 : 0)
  for (const value of Object.values(shown)) assert.ok(value >= 0 && Number.isFinite(value))
}

/** What says that the vendor's count was not simply taken. */
function isDoubt(mark: string): boolean {
  return mark === 'estimated' || mark === 'implausible'
}

const text = 'word '.repeat(8_000)

/** A stream of 40,000 bytes of text whose first count is right and whose last one is `last`. */
const streams: Readonly<Record<FormatName, (last: string) => string>> = {
  messages: (last) =>
    'data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}\n\n' +
    `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"${text}"}}\n\n` +
    'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":' +
    `${last}}}\n\ndata: {"type":"message_stop"}\n\n`,
  chat: (last) =>
    `data: {"choices":[{"delta":{"content":"${text}"},"finish_reason":"stop"}],"usage":` +
    '{"prompt_tokens":9,"completion_tokens":1}}\n\n' +
    `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":${last}}}\n\n` +
    'data: [DONE]\n\n',
}

for (const format of formats)
  it(`a ${format} stream whose last count cannot be believed is estimated from its text`, () =>
    withScenario({ vendors: 'scripted' }, async (gateway) => {
      for (const last of ['-1', '4000.5', '1152921504606846976']) {
        gateway.scripted.answer((response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.end(streams[format](last))
        })
        const account = await gateway.createAccount()
        const ask: Ask = { format, isStream: true, maxTokens: 20_000 }
        const answer = await sendAsk(gateway.url, account.key, ask)
        assert.ok(hasEnd(answer, ask), answer.body.toString().slice(-200))
        const exchange = only(await gateway.ended(account, 1))
        assert.deepEqual(exchange.marks, ['estimated', 'implausible'])
        const { inputTokens = 0, outputTokens = 0 } = exchange.usage?.reported ?? {}
        assert.equal(inputTokens, 9)
        assert.ok(outputTokens >= 8_000 && outputTokens < 12_000, `${outputTokens} tokens`)
        assert.equal((await chargesOf(gateway.context.database, account.id)).size, 1)
      }
      await assertClean(gateway)
    }))

for (const format of formats) {
  it(`a ${format} stream without its terminal event is charged what the vendor counted`, async () => {
    await withScenario({}, async (gateway) => {
      const account = await gateway.createAccount()
      const ask: Ask = { format, isStream: true, marker: 'unended' }
      const answer = await sendAsk(gateway.url, account.key, {
        ...ask,
        sandbox: `${content}; terminal=missing`,
      })
      assert.equal(answer.isComplete, true)
      const exchange = only(await gateway.ended(account, 1))
      assert.equal(exchange.ending, 'completed')
      assert.equal(
        exchange.amountPicos,
        vendorPrice(await gateway.served('unended', places[format].main)),
      )
      assert.deepEqual(exchange.marks, [])
    })
  })

  it(`a ${format} stream without its end is not charged and does not look complete`, async () => {
    await withScenario({}, async (gateway) => {
      const account = await gateway.createAccount()
      const sandbox = `${content}; terminal=missing; framing=close`
      const answer = await sendAsk(gateway.url, account.key, { format, isStream: true, sandbox })
      assert.equal(answer.isComplete, false)
      assert.ok(!hasTerminalEvent(answer.body.toString(), format))
      const exchange = only(await gateway.ended(account, 1))
      assert.equal(exchange.ending, 'upstream_cut')
      assert.equal(exchange.amountPicos, 0n)
      assert.ok(exchange.operatorCostPicos > 0n)
    })
  })
}

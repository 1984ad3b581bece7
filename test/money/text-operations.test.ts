/**
 * Embeddings and completions from the client to the ledger: the vendor's bytes, its counts at the model's
 * prices, and the same rules as for chat where a vendor fails or a client leaves.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { demoCredentials } from '../../sandbox/demo.ts'
import { open, send, usage, type WireAnswer } from '../support/http-client.ts'
import { assertClean, only, usd } from '../support/money.ts'
import { readStatement } from '../support/statement.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, withScenario, type Scenario } from '../support/scenario.ts'
import {
  completionsPath,
  embeddingsPath,
  embedInputPicos,
  textCatalogue,
  textInputPicos,
  textOutputPicos,
  textRequest,
  type TextAsk,
} from '../support/text-operations.ts'

let gateway: Scenario
type Ask = Omit<TextAsk, 'key' | 'fields'> & { readonly key?: string }

function embed(input: unknown, ask: Ask & { readonly more?: object } = {}): Promise<WireAnswer> {
  const { more, ...rest } = ask
  const fields = { model: 'embed-1', input, ...more }
  return send(
    gateway.url + embeddingsPath,
    textRequest({ key: gateway.account.key, ...rest, fields }),
  )
}

function complete(more: object, ask: Ask = {}): Promise<WireAnswer> {
  const fields = { model: 'text-1', prompt: 'hello', max_tokens: 50, ...more }
  return send(
    gateway.url + completionsPath,
    textRequest({ key: gateway.account.key, ...ask, fields }),
  )
}

/** The same request without the gateway. */
function direct(path: string, fields: object, sandbox?: string): Promise<WireAnswer> {
  const url = `${gateway.sandbox.url}/beta-main${path.replace('/beta', '')}`
  const key = demoCredentials['beta-main']
  return send(url, textRequest({ key, fields: { ...fields }, ...(sandbox && { sandbox }) }))
}

interface Counted {
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens?: number }
}

function countsOf({ text }: WireAnswer): Counted['usage'] {
  return (JSON.parse(text) as Counted).usage
}

function messageOf({ text }: WireAnswer): string {
  return (JSON.parse(text) as { error: { message: string } }).error.message
}

describe('on one gateway', () => {
  before(async () => {
    gateway = await scenario({ catalogue: textCatalogue, settings: { client_left_grace: '0s' } })
  })
  after(() => gateway.close())

  describe('embeddings', () => {
    const inputs = ['a text', ['two', 'texts'], [1, 22, 333_333], [[1, 2], [3]]] as const

    for (const input of inputs)
      for (const encoding_format of ['float', 'base64'])
        test(`of ${JSON.stringify(input)} as ${encoding_format} are the vendor's bytes at its count`, async () => {
          const fields = { model: 'embed-1', input, encoding_format, dimensions: 8 }
          const answer = await embed(input, { more: fields })
          assert.equal(answer.status, 200)
          assert.deepEqual(answer.body, (await direct(embeddingsPath, fields)).body)
          const recorded = await gateway.recorded(answer)
          const { prompt_tokens } = countsOf(answer)
          assert.equal(recorded.amountPicos, BigInt(prompt_tokens) * embedInputPicos)
          assert.deepEqual([recorded.ending, recorded.chargeCount], ['completed', 1])
        })

    test('are in the usage and on the statement of their account', async () => {
      const account = await gateway.createAccount()
      const answer = await embed('x'.repeat(400), { key: account.key })
      const { prompt_tokens } = countsOf(answer)
      const { usage: figures } = (await usage(gateway.url, account.token)) as {
        readonly usage: Readonly<Record<string, unknown>>
      }
      const cost = usd(BigInt(prompt_tokens) * embedInputPicos)
      assert.equal(figures['requests'], 1)
      assert.equal(figures['input_tokens'], prompt_tokens)
      assert.equal(figures['output_tokens'], 0)
      assert.equal(figures['cost_usd'], cost)
      const statement = await readStatement(gateway.context, { account: account.name })
      const line = statement.lines.find(({ kind }) => kind === 'charge')
      assert.equal(line?.exchange?.calculation, `${prompt_tokens} input × 0.00000002`)
    })

    test('without a count from the vendor are charged by the text that was sent', async () => {
      const account = await gateway.createAccount()
      await embed('word '.repeat(84), { key: account.key, sandbox: 'usage=none' })
      const { amountPicos, marks } = only(await gateway.ended(account, 1))
      assert.equal(amountPicos, 100n * embedInputPicos)
      assert.deepEqual(marks, ['estimated'])
    })

    test('hold for their input alone, and the refusal says so', async () => {
      const poor = await gateway.createAccount({ balance_usd: '0.000001' })
      const answer = await embed('x'.repeat(4_000), { key: poor.key })
      assert.equal(answer.status, 402)
      assert.match(messageOf(answer), /could cost up to .* Send less, or top up the account\.$/)
      assert.equal((await embed([1, 2, 3], { key: poor.key })).status, 200)
    })

    test('cost nothing where the client leaves before there is an answer', async () => {
      const account = await gateway.createAccount()
      const fields = { model: 'embed-1', input: 'x' }
      const answer = open(
        gateway.url + embeddingsPath,
        textRequest({ key: account.key, fields, sandbox: 'hold=left@before_head', marker: 'left' }),
      )
      await gateway.sandbox.faults.reached('left')
      answer.leave()
      const { ending, amountPicos } = only(await gateway.ended(account, 1))
      gateway.sandbox.faults.release('left')
      assert.deepEqual([ending, amountPicos], ['client_left', 0n])
    })

    test('with a wrong request get the gateway’s 400 or the vendor’s own', async () => {
      assert.match(messageOf(await embed([])), /^`input` is required/)
      assert.match(messageOf(await embed('x', { more: { route: 'a' } })), /leave `route` out/)
      const fields = { model: 'embed-1', input: ['x', ''] }
      const answer = await embed(fields.input)
      assert.equal(answer.status, 400)
      assert.deepEqual(answer.body, (await direct(embeddingsPath, fields)).body)
      assert.equal((await gateway.recorded(answer)).amountPicos, 0n)
    })

    test('of a model for text, and chat with a model for embeddings, are told apart', async () => {
      const answer = await complete({ model: 'embed-1' })
      assert.equal(answer.status, 404)
      assert.match(messageOf(answer), /It serves: embeddings\.$/)
    })
  })

  describe('completions', () => {
    const forms = [
      ['one prompt', { prompt: 'hello' }],
      ['several choices', { n: 3 }],
      ['the best of several', { n: 2, best_of: 4 }],
      ['several prompts', { prompt: ['a', 'b'] }],
      ['tokens', { prompt: [1, 2, 3], echo: true }],
    ] as const

    for (const [name, fields] of forms)
      test(`with ${name} are the vendor's bytes at its count`, async () => {
        const more = { max_tokens: 50, ...fields }
        const answer = await complete(more, { sandbox: 'output=7' })
        assert.equal(answer.status, 200)
        const { prompt_tokens, completion_tokens = 0 } = countsOf(answer)
        assert.ok(completion_tokens > 0)
        const recorded = await gateway.recorded(answer)
        assert.equal(recorded.amountPicos, priceOf(prompt_tokens, completion_tokens))
      })

    for (const stream of [false, true])
      test(`that ask for no output are charged their prompt, ${stream ? 'streamed' : 'whole'}`, async () => {
        const answer = await complete({ max_tokens: 0, stream }, { sandbox: 'input=900' })
        assert.equal(answer.status, 200)
        assert.equal((await gateway.recorded(answer)).amountPicos, priceOf(900, 0))
      })

    for (const asks of [true, false])
      test(`streamed ${asks ? 'with' : 'without'} the usage chunk are charged by the vendor's count`, async () => {
        const marker = `stream-${asks}`
        const stream = { stream: true, ...(asks && { stream_options: { include_usage: true } }) }
        const answer = await complete(stream, { sandbox: 'input=9; output=12', marker })
        assert.ok(answer.isComplete && answer.text.endsWith('data: [DONE]\n\n'), answer.text)
        assert.equal(answer.text.includes('"prompt_tokens"'), asks)
        const { amountPicos, chargeCount } = await gateway.recorded(answer)
        assert.deepEqual([amountPicos, chargeCount], [priceOf(9, 12), 1])
      })

    test('with an error instead of an answer come from the reserve, charged once', async () => {
      for (const isStream of [false, true]) {
        gateway.sandbox.faults.set('beta-main', { error: '503' })
        const marker = `over-${isStream}`
        const answer = await complete({ stream: isStream }, { sandbox: 'output=5', marker })
        gateway.sandbox.faults.clear()
        gateway.resetHealth()
        assert.equal(answer.status, 200)
        assert.deepEqual(gateway.tried(marker), ['beta-main', 'beta-reserve'])
        assert.equal((await gateway.recorded(answer)).chargeCount, 1)
      }
    })

    test('that the vendor breaks off end in an error and cost nothing', async () => {
      const answer = await complete({ stream: true }, { sandbox: 'output=20; cut_event=4' })
      assert.equal(answer.isComplete, false)
      assert.match(answer.text, /data: \{"error":\{[^\n]*\}\}\n\n$/)
      assert.equal((await gateway.recorded(answer)).amountPicos, 0n)
    })

    test('of a client that leaves are charged by what was delivered, within the hold', async () => {
      for (const point of ['first_output', 'mid', 'before_usage', 'before_terminal']) {
        const account = await gateway.createAccount()
        const marker = `left-${point}`
        const fields = { model: 'text-1', prompt: 'hello', max_tokens: 50, stream: true }
        const sandbox = `output=20; piece=the%20; hold=${marker}@${point}`
        const answer = open(
          gateway.url + completionsPath,
          textRequest({ key: account.key, fields, sandbox, marker }),
        )
        await gateway.sandbox.faults.reached(marker)
        await answer.until((text) => text.includes('\n\n'))
        answer.leave()
        const { ending, amountPicos, marks } = only(await gateway.ended(account, 1))
        gateway.sandbox.faults.release(marker)
        assert.equal(ending, 'client_left')
        const isCounted = point === 'before_terminal'
        assert.deepEqual(marks, isCounted ? [] : ['estimated'])
        assert.ok(amountPicos >= priceOf(1, isCounted ? 20 : 1) && amountPicos <= priceOf(5, 50))
      }
    })

    test('without a limit hold for the most that the model makes', async () => {
      const most = priceOf(0, 4_096)
      const below = await gateway.createAccount({ balance_usd: String(usd(most)) })
      assert.equal((await complete({ max_tokens: undefined }, { key: below.key })).status, 402)
      const above = await gateway.createAccount({ balance_usd: String(usd(most * 2n)) })
      assert.equal((await complete({ max_tokens: undefined }, { key: above.key })).status, 200)
      const refused = await complete({ max_tokens: undefined, n: 2 }, { key: above.key })
      assert.match(messageOf(refused), /The largest max_tokens that the balance covers/)
    })
  })

  test('the audit finds no difference afterwards', () => assertClean(gateway))
})

describe('a model whose limit of input is that of one text', () => {
  for (const [path, id, member] of [
    [embeddingsPath, 'embed-1', 'input'],
    [completionsPath, 'text-1', 'prompt'],
  ] as const)
    test(`is charged for all texts of a request, and holds for them (${member})`, () => {
      const limited = (url: string): string =>
        textCatalogue(url).replace(`  ${id}:\n`, `  ${id}:\n    max_input_tokens: 100\n`)
      return withScenario({ catalogue: limited }, async (own) => {
        const fields = { model: id, [member]: Array(20).fill('word '.repeat(80)), max_tokens: 1 }
        const { key } = own.account
        const answer = await send(
          own.url + path,
          textRequest({ key, fields, sandbox: 'input=2000; output=1' }),
        )
        assert.equal(answer.status, 200, answer.text)
        const { amountPicos, marks } = only(await own.ended(own.account, 1))
        const price = id === 'embed-1' ? 2_000n * embedInputPicos : priceOf(2_000, 20)
        // Without a mark: the charge is within the hold.
        assert.deepEqual([amountPicos, marks], [price, []])
      })
    })
})

describe('a vendor that does not offer an endpoint', () => {
  for (const operation of ['embeddings', 'completions'] as const)
    test(`(${operation}) is no failure, and the client learns it`, () =>
      withScenario({ catalogue: textCatalogue }, async (own) => {
        const path = operation === 'embeddings' ? embeddingsPath : completionsPath
        const model = operation === 'embeddings' ? 'embed-1' : 'text-1'
        const ask = (account: TestAccount, marker: string): Promise<WireAnswer> => {
          const fields = { model, input: 'x', prompt: 'x', max_tokens: 5 }
          return send(own.url + path, textRequest({ key: account.key, fields, marker }))
        }
        own.sandbox.faults.set('beta-main', `not_offered=${operation}`)
        for (let asked = 0; asked < 6; asked++)
          assert.equal((await ask(own.account, `m${asked}`)).status, 200)
        own.sandbox.faults.set('beta-reserve', `not_offered=${operation}`)
        for (let asked = 0; asked < 6; asked++) {
          const answer = await ask(own.account, `n${asked}`)
          assert.equal(answer.status, 404)
          assert.match(messageOf(answer), /offer/)
        }
        for (const channel of ['beta-main', 'beta-reserve'])
          assert.equal(own.grade(channel, model), 'on')
      }))
})

function priceOf(input: number, output: number): bigint {
  return BigInt(input) * textInputPicos + BigInt(output) * textOutputPicos
}

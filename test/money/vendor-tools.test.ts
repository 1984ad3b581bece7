/**
 * Tools that the vendor runs in a Responses request: they need a price, some of them the operator's leave.
 * They are held for the most uses, and charged by the uses that the answer shows.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { stringify } from 'yaml'
import { demoCatalogue } from '../../sandbox/demo.ts'
import { send, type WireAnswer } from '../support/http-client.ts'
import { assertClean } from '../support/money.ts'
import { reconcileChannel } from '../support/operations.ts'
import { readStatement } from '../support/statement.ts'
import { scenario } from '../support/scenario.ts'
import { textRequest } from '../support/text-operations.ts'

const tools = ['web_search', 'file_search', 'code_interpreter', 'image_generation', 'mcp'] as const
type Tool = (typeof tools)[number]

/** USD per 1000 uses. */
const toolPrices = { file_search: 2.5, code_interpreter: 30, image_generation: 40 }
const usePicos: Readonly<Record<Tool, bigint>> = {
  web_search: 10_000_000_000n,
  file_search: 2_500_000_000n,
  code_interpreter: 30_000_000_000n,
  image_generation: 40_000_000_000n,
  mcp: 0n,
}

const gateway = await scenario({
  catalogue(url) {
    const base = demoCatalogue(url)
    const channel = { ...base.channels['beta-main'], check: 'none' }
    const price = { input: 1, output: 2 }
    return stringify({
      vendors: {
        beta: { format: 'chat', allow: ['file_search', 'mcp'] },
        gamma: { format: 'chat' },
      },
      models: {
        'tools-1': { vendor: 'beta', max_input_tokens: 10_000, price: { ...price, ...toolPrices } },
        'plain-1': { vendor: 'beta', price },
        'gamma-1': { vendor: 'gamma', price: { ...price, ...toolPrices } },
      },
      channels: {
        'beta-main': { ...channel, models: ['tools-1', 'plain-1'] },
        'gamma-main': { ...channel, vendor: 'gamma', models: ['gamma-1'] },
      },
    })
  },
})
after(() => gateway.close())

function toolOf(type: Tool): object {
  if (type === 'file_search') return { type, vector_store_ids: ['vs_1'] }
  if (type === 'code_interpreter') return { type, container: { type: 'auto' } }
  return type === 'mcp' ? { type, server_label: 's', server_url: 'https://mcp.example' } : { type }
}

interface ToolAsk {
  readonly model: string
  readonly tool: Tool
  readonly key?: string
  readonly sandbox?: string
  readonly more?: object
}

function ask({ model, tool, key, sandbox, more }: ToolAsk): Promise<WireAnswer> {
  const prefix = model === 'gamma-1' ? 'gamma' : 'beta'
  const fields = { model, input: 'hello', max_output_tokens: 100, tools: [toolOf(tool)], ...more }
  return send(
    `${gateway.url}/${prefix}/v1/responses`,
    textRequest({ key: key ?? gateway.account.key, fields, ...(sandbox && { sandbox }) }),
  )
}

function messageOf({ text }: WireAnswer): string {
  return (JSON.parse(text) as { error: { message: string } }).error.message
}

describe('a tool that the vendor runs', () => {
  for (const tool of ['web_search', 'code_interpreter', 'image_generation'] as const)
    test(`(${tool}) runs where it has a price`, async () => {
      const answer = await ask({ model: 'gamma-1', tool })
      assert.equal(answer.status, 200, answer.text)
    })

  for (const tool of ['file_search', 'mcp'] as const)
    test(`(${tool}) is refused unless the operator allows it`, async () => {
      const answer = await ask({ model: 'gamma-1', tool })
      assert.equal(answer.status, 400)
      assert.match(messageOf(answer), /not available here; leave/)
    })

  test('that a request limits to no use is charged where the vendor runs it all the same', async () => {
    const sandbox = 'content=image_generation,text; input=10; output=5'
    const more = { max_tool_calls: 0 }
    const answer = await ask({ model: 'tools-1', tool: 'image_generation', sandbox, more })
    assert.equal(answer.status, 200, answer.text)
    const { amountPicos } = await gateway.recorded(answer)
    assert.equal(amountPicos, 10n * 1_000_000n + 5n * 2_000_000n + usePicos.image_generation)
    const unpriced = await ask({ model: 'plain-1', tool: 'image_generation', more })
    assert.equal(unpriced.status, 400)
  })

  for (const tool of ['file_search', 'code_interpreter', 'image_generation'] as const)
    test(`(${tool}) is refused with a model that has no price for it`, async () => {
      const answer = await ask({ model: 'plain-1', tool })
      assert.equal(answer.status, 400)
      const message = `The tool ${tool} is not available with the model "plain-1"; leave it out.`
      assert.equal(messageOf(answer), message)
    })

  for (const tool of tools)
    for (const stream of [false, true])
      test(`(${tool}) is charged by its uses ${stream ? 'in a stream' : 'in a whole answer'}`, async () => {
        const account = await gateway.createAccount()
        const content = tool === 'web_search' ? 'search' : tool
        const sandbox = `input=50; output_tokens=20; content=${content},text`
        const { key } = account
        const answer = await ask({ model: 'tools-1', tool, key, sandbox, more: { stream } })
        assert.equal(answer.status, 200, answer.text)
        const statement = await readStatement(gateway.context, { account: account.name })
        const exchange = statement.lines.find(({ kind }) => kind === 'charge')?.exchange
        const counted = exchange?.parts[0]?.lines.map((line) => [line.class, line.count])
        const uses = tool === 'mcp' ? [] : [[tool, 1]]
        assert.deepEqual(counted?.slice(2), uses)
        const [[, input = 0] = [], [, output = 0] = []] = counted ?? []
        const tokens = BigInt(input) * 1_000_000n + BigInt(output) * 2_000_000n
        const { amountPicos } = await gateway.recorded(answer)
        assert.equal(amountPicos, tokens + usePicos[tool])
      })

  test('has no factor of the tier on its uses, on the statement neither', async () => {
    const account = await gateway.createAccount()
    const sandbox = 'tier=flex; input=50; output_tokens=20; content=code_interpreter,text'
    const { key } = account
    const tool = 'code_interpreter'
    assert.equal((await ask({ model: 'tools-1', tool, key, sandbox })).status, 200)
    const statement = await readStatement(gateway.context, { account: account.name })
    const exchange = statement.lines.find(({ kind }) => kind === 'charge')?.exchange
    assert.match(
      exchange?.calculation ?? '',
      /^\(\d+ input × 0\.000001 \+ \d+ output × 0\.000002\) × 0\.5 \(tier flex\) \+ 1 code_interpreter × 0\.03$/,
    )
  })

  test('is admitted by its likely cost, or by the most that its uses can come to', async () => {
    const uses = 3n * usePicos.image_generation
    const likely = uses + 100n * 2_000_000n
    // It reads the prompt once more for each use, and may write it into its cache.
    const most = uses + 100n * 2_000_000n + 4n * 10_000n * 1_250_000n
    const more = { max_tool_calls: 3 }
    for (const [holds, enough] of [
      ['likely', likely + 100_000_000n],
      ['most', most],
    ] as const)
      for (const [picos, status] of [
        [enough - 200_000_000n, 402],
        [enough, 200],
      ] as const) {
        const balance_usd = (Number(picos) / 1e12).toFixed(6)
        const { key } = await gateway.createAccount({ balance_usd, holds })
        const answer = await ask({ model: 'tools-1', tool: 'image_generation', key, more })
        assert.equal(answer.status, status, answer.text)
      }
  })

  test('needs a limit of its uses where no charge may be above what is left', async () => {
    const { key } = await gateway.createAccount({ balance_usd: '100', holds: 'most' })
    const answer = await ask({ model: 'tools-1', tool: 'image_generation', key })
    assert.equal(answer.status, 400)
    assert.match(messageOf(answer), /`max_tool_calls`/)
  })
})

for (const store of [true, false])
  test(`a container is its account's own, with store ${store}`, async () => {
    const owner = await gateway.createAccount()
    const made = await ask({
      model: 'tools-1',
      tool: 'code_interpreter',
      key: owner.key,
      sandbox: 'content=code_interpreter,text',
      more: { store },
    })
    assert.equal(made.status, 200, made.text)
    const { output } = JSON.parse(made.text) as {
      output: { type: string; container_id?: string }[]
    }
    const id = output.find(({ type }) => type === 'code_interpreter_call')?.container_id
    // The item itself is the client's own: it has every id but that of the container.
    const item = { type: 'code_interpreter_call', id: 'ci_own', code: '1', container_id: id }
    const more = { input: [item, { role: 'user', content: 'go on' }] }
    const enter = (key: string) => ask({ model: 'tools-1', tool: 'code_interpreter', key, more })
    const foreign = await enter((await gateway.createAccount()).key)
    assert.equal(foreign.status, 404, foreign.text)
    assert.equal(messageOf(foreign), `Container with id '${id}' not found.`)
    assert.equal((await enter(owner.key)).status, 200)
  })

test('the uses reconcile with the vendor’s own log, and one more of them is a difference', async () => {
  const sums: Record<string, number> = {}
  let requests = 0
  const add = (name: string, count: number): void => void (sums[name] = (sums[name] ?? 0) + count)
  for (const { usage, model, status } of gateway.sandbox.log.records) {
    if (usage === undefined || model !== 'tools-1' || status !== 200) continue
    requests++
    add('input', usage.counts.input)
    add('output', usage.counts.output)
    for (const [tool, count] of Object.entries(usage.hostedCalls))
      if (tool !== 'mcp') add(tool, count)
  }
  const differencesOf = async (figures: object): Promise<unknown> => {
    const { models } = await reconcileChannel(gateway.context, {
      channel: 'beta-main',
      from: '2020-01-01',
      to: '2100-01-01',
      vendor_counts: JSON.stringify([{ model: 'tools-1', requests, ...figures }]),
    })
    const counts = models.flatMap((row) => row.counts)
    const different = counts.filter(({ vendor, expected }) => vendor !== expected)
    return different.map(({ figure, vendor, expected }) => [figure, Number(vendor) - expected])
  }
  assert.deepEqual(await differencesOf(sums), [])
  const more = { ...sums, code_interpreter: (sums['code_interpreter'] ?? 0) + 1 }
  assert.deepEqual(await differencesOf(more), [['code_interpreter', 1]])
})

test('the audit finds no difference afterwards', () => assertClean(gateway))

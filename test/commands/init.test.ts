/**
 * `turnpike init` from its files to a charged answer: they are applied as they are, their addresses become
 * those of simulated vendors, and the gateway serves with the settings that were written.
 */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { parse } from 'yaml'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'
import { startingChannels } from '../../src/operations/catalogue/starting-catalogue.ts'
import { failure, json, newFolder, run, runWithin } from '../support/command-line.ts'
import { openProgram, type Program } from '../support/program.ts'

interface RevenueRow {
  readonly model: string
  readonly revenue_usd: string
}

interface Finding {
  readonly area: string
  readonly status: string
  readonly message: string
}

interface Channel {
  readonly vendor: string
  readonly url: string
  readonly rank?: number
}

type Entries<Entry> = Readonly<Record<string, Entry>>

interface Catalogue {
  readonly vendors: Entries<unknown>
  readonly models: Entries<Entries<unknown>>
  readonly channels: Entries<Channel>
}

const needed = ['max_input_tokens', 'max_output_tokens', 'image_tokens', 'dated', 'thinks']

/** By Claude Code, Codex, openai-agents, gptme, Haystack, Agno, CrewAI, aider, LangChain and n8n. */
const askedByDefault = [
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-haiku-5-5',
  'claude-fable-5-2',
  'gpt-6.1-sol',
  'gpt-5.6-luna',
  'gpt-5-mini',
  'claude-haiku-4-5',
  'claude-sonnet-4-5',
  'gpt-5.4-mini',
  'gpt-4.1-mini',
  'gpt-4o',
  'gpt-3.5-turbo',
  'text-embedding-ada-002',
  'claude-haiku-4-5-20251001',
]

const everyChannel = Object.keys(startingChannels)

/** Runs init for these names in a new folder, and reads what it wrote. */
async function written(...names: readonly string[]) {
  const folder = newFolder()
  await json(folder, ['init', ...names].join(' '))
  const text = readFileSync(join(folder, 'catalog.yaml'), 'utf8')
  return { folder, text, catalogue: parse(text) as Catalogue }
}

/** A value for each variable that a catalogue names. */
function variablesOf(text: string): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {}
  for (const [, name = ''] of text.matchAll(/env:([A-Z_]+)/g)) variables[name] = 'secret'
  return variables
}

async function dryRun(folder: string, environment: Readonly<Record<string, string>>) {
  const { code, out, error } = await run(
    folder,
    ['apply', '-f', 'catalog.yaml', '--dry-run', '--json'],
    environment,
  )
  assert.deepEqual([code, error], [0, ''])
  return JSON.parse(out) as { readonly kind: string; readonly notes: readonly string[] }
}

describe('init', () => {
  it('keeps files that exist, and writes none beside them', async () => {
    const folder = newFolder({ 'turnpike.yaml': 'region: mine\n' })
    const { exit, code, message } = await failure(folder, 'init')
    assert.deepEqual([exit, code], [1, 'operations.conflict'])
    assert.match(message, /turnpike\.yaml exists already\. Nothing was written\./)
    assert.deepEqual(readdirSync(folder), ['turnpike.yaml'])
    assert.equal(readFileSync(join(folder, 'turnpike.yaml'), 'utf8'), 'region: mine\n')
  })

  it('leaves no file behind where the disk is full', async () => {
    const folder = newFolder()
    assert.equal((await runWithin(folder, 'init', 1)).code, 1)
    assert.deepEqual(readdirSync(folder), [])
  })

  it('makes the folder that --dir names', async () => {
    const folder = newFolder()
    const { files } = await json(folder, 'init --dir one/two')
    assert.deepEqual(files, [
      join(folder, 'one/two/catalog.yaml'),
      join(folder, 'one/two/turnpike.yaml'),
    ])
    assert.equal((await failure(folder, 'init --dir one/two')).exit, 1)
  })

  it('refuses an unknown name, and lists those that it knows', async () => {
    const folder = newFolder()
    const { exit, code, message } = await failure(folder, 'init anthropic antropic')
    assert.deepEqual([exit, code], [2, 'usage'])
    for (const name of [...everyChannel, 'all']) assert.match(message, new RegExp(` ${name}[,.]`))
    assert.deepEqual(readdirSync(folder), [])
  })

  for (const name of everyChannel)
    it(`writes a catalogue for ${name} alone that is applied without a note`, async () => {
      const { folder, text, catalogue } = await written(name)
      const { vendors, models, channels } = catalogue
      assert.deepEqual(Object.keys(channels), [name])
      assert.equal(channels[name]?.rank, undefined)
      assert.deepEqual(Object.keys(vendors), [channels[name]?.vendor])
      for (const [id, { vendor }] of Object.entries(models))
        assert.equal(vendor, channels[name]?.vendor, id)
      const { kind, notes } = await dryRun(folder, variablesOf(text))
      assert.deepEqual([kind, notes], ['would_apply', []])
    })

  it('writes one catalogue for all, in which no two vendors have a model of one name', async () => {
    const { folder, text, catalogue } = await written('all')
    assert.deepEqual(Object.keys(catalogue.channels), everyChannel)
    const { kind, notes } = await dryRun(folder, variablesOf(text))
    assert.deepEqual([kind, notes], ['would_apply', []])
  })

  it('makes the clouds that sell the same models reserves of one vendor', async () => {
    const { catalogue } = await written('foundry', 'bedrock', 'azure')
    const ranks = Object.entries(catalogue.channels).map(([name, { vendor, rank }]) => [
      name,
      vendor,
      rank,
    ])
    assert.deepEqual(ranks, [
      ['bedrock', 'anthropic', undefined],
      ['foundry', 'anthropic', 1],
      ['azure', 'openai', undefined],
    ])
  })

  it('says where its prices are from, and that no channel was tried', async () => {
    const { text } = await written('deepseek')
    assert.match(text, /Prices: https:\/\/api-docs\.deepseek\.com/)
    assert.match(text, /read on 20\d\d-\d\d-\d\d/)
    assert.match(text, /No channel was tried on the real vendor/)
    assert.doesNotMatch(text, /claude|gpt/i)
  })

  it('serves without names what clients ask for by default', async () => {
    const { catalogue } = await written()
    const served = new Set<unknown>()
    for (const [id, { also, dated }] of Object.entries(catalogue.models)) {
      served.add(id)
      for (const name of Array.isArray(also) ? (also as unknown[]) : []) served.add(name)
      if (dated === true) served.add(`${id}-20251001`)
    }
    assert.deepEqual(
      askedByDefault.filter((name) => !served.has(name)),
      [],
    )
  })

  it('says of each model what is known for its holds', async () => {
    const { catalogue } = await written()
    const silent = Object.entries(catalogue.models)
      .filter(([, { operations }]) => operations === undefined)
      .map(([id, entry]) => [id, needed.filter((field) => entry[field] === undefined)])
    const openai = ['image_tokens']
    assert.deepEqual(Object.fromEntries(silent), {
      'claude-fable-5-2': [],
      'claude-opus-5-5': [],
      'claude-sonnet-5-5': [],
      'claude-haiku-5-5': [],
      'claude-haiku-4-5': ['image_tokens', 'thinks'],
      // Neither the vendor nor the list is known to say it.
      'gpt-6.2-sol': ['image_tokens', 'dated'],
      'gpt-6.1-sol': openai,
      'gpt-6.1-terra': openai,
      'gpt-6-luna': openai,
      'gpt-5.6-luna': openai,
      'gpt-5.4-mini': ['image_tokens', 'thinks'],
      'gpt-5-mini': openai,
      'gpt-4.1-mini': ['image_tokens', 'thinks'],
      'gpt-4o': ['image_tokens', 'dated', 'thinks'],
    })
  })
})

describe('what init writes', () => {
  let sandbox: Sandbox
  let program: Program
  before(async () => {
    sandbox = await startSandbox({
      credentials: { anthropic: 'first-key', bedrock: 'second-key', openai: 'third-key' },
      keepBodies: true,
    })
    program = await openProgram({
      ANTHROPIC_API_KEY: 'first-key',
      AWS_BEARER_TOKEN_BEDROCK: 'second-key',
      OPENAI_API_KEY: 'third-key',
    })
  })
  after(async () => {
    await program.close()
    await sandbox.close()
  })

  async function applyTo(addresses: Entries<string>): Promise<void> {
    let text = readFileSync(join(program.folder, 'catalog.yaml'), 'utf8')
    for (const [own, other] of Object.entries(addresses)) {
      assert.ok(text.includes(own), own)
      text = text.replace(own, other)
    }
    await program.write('catalog.yaml', text)
    await program.json('apply', '-f', 'catalog.yaml')
  }

  it('passes doctor, serves both formats, and hands over to Bedrock where Anthropic fails', async () => {
    await program.json('init')
    await applyTo({
      'https://api.anthropic.com': `${sandbox.url}/anthropic`,
      'https://bedrock-mantle.us-east-1.api.aws/anthropic': `${sandbox.url}/bedrock`,
      'https://api.openai.com': `${sandbox.url}/openai`,
    })
    await program.json('account', 'create', 'acme', '--balance', '10')
    const { key } = await program.json('key', 'create', 'acme')
    const { findings } = await program.json<{ findings: readonly Finding[] }>('doctor')
    assert.ok(!findings.some(({ message }) => message.startsWith('Models without')))
    assert.deepEqual(
      findings.filter(({ status }) => status === 'problem'),
      [],
    )

    const { url } = await program.serve()
    const call = async (path: string, model: string): Promise<void> => {
      const answer = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${String(key)}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model,
          max_tokens: 16,
          messages: [{ role: 'user', content: 'Hi' }],
        }),
      })
      assert.equal(answer.status, 200, await answer.text())
    }
    await call('/anthropic/v1/messages', 'claude-haiku-5-5')
    await call('/openai/v1/chat/completions', 'gpt-6.1-terra')
    sandbox.faults.set('anthropic', 'error=500')
    await call('/anthropic/v1/messages', 'claude-opus-5-5')
    const { model, credential } = sandbox.log.forChannel('bedrock').at(-1) ?? {}
    assert.deepEqual([model, credential?.header], ['anthropic.claude-opus-5-5', 'authorization'])
    const rows = await program.json<RevenueRow[]>('report', '--by', 'model')
    assert.deepEqual(rows.map(({ model }) => model).sort(), [
      'claude-haiku-5-5',
      'claude-opus-5-5',
      'gpt-6.1-terra',
    ])
    for (const { model, revenue_usd } of rows) assert.ok(Number(revenue_usd) > 0, model)
  })
})

describe('what init writes for all', () => {
  it('gives doctor nothing to complain of but addresses that do not answer', async () => {
    const { folder, text } = await written('all')
    const closed = text.replaceAll(/url: \S+/g, 'url: http://127.0.0.1:1')
    writeFileSync(join(folder, 'catalog.yaml'), closed)
    const environment = variablesOf(text)
    assert.equal((await run(folder, ['apply', '-f', 'catalog.yaml'], environment)).code, 0)
    const { out } = await run(folder, ['doctor', '--json'], environment)
    const { findings } = JSON.parse(out) as { findings: readonly Finding[] }
    const problems = findings.filter(({ status }) => status === 'problem')
    assert.equal(problems.length, everyChannel.length)
    for (const { message } of problems) assert.match(message, /^Channel \S+: no answer from /)
    assert.ok(!findings.some(({ message }) => message.startsWith('Models without')))
  })
})

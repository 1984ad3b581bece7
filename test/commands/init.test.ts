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
import { failure, json, newFolder, runWithin } from '../support/command-line.ts'
import { openProgram, type Program } from '../support/program.ts'

interface RevenueRow {
  readonly model: string
  readonly revenue_usd: string
}

type Entry = Readonly<Record<string, unknown>>

const needed = ['max_input_tokens', 'max_output_tokens', 'image_tokens', 'dated', 'thinks']

/** The samples of other vendors are comments; this makes them entries of their sections. */
function withSamples(catalogue: string): string {
  const [active = '', samples = ''] = catalogue.split(/^# Other vendors, .*$/m)
  const sections = new Map<string, string[]>()
  let section: string[] = []
  for (const line of samples.split('\n')) {
    const [, name] = /^# (vendors|models|channels):$/.exec(line) ?? []
    if (name !== undefined) sections.set(name, (section = []))
    else if (/^# {3}\s*\S/.test(line)) section.push(line.slice(2))
  }
  assert.deepEqual([...sections.keys()], ['vendors', 'models', 'channels'])
  let text = active
  for (const [name, lines] of sections)
    text = text.replace(new RegExp(`^${name}:\n`, 'm'), `${name}:\n${lines.join('\n')}\n`)
  return text
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

  it('says of each model what is known for its holds', async () => {
    const folder = newFolder()
    await json(folder, 'init')
    const text = readFileSync(join(folder, 'catalog.yaml'), 'utf8')
    const { models } = parse(text) as { models: Readonly<Record<string, Entry>> }
    const silent = Object.entries(models).map(([id, entry]) => [
      id,
      needed.filter((field) => entry[field] === undefined),
    ])
    assert.deepEqual(Object.fromEntries(silent), {
      'claude-opus-5-5': [],
      'claude-sonnet-5-5': [],
      'claude-haiku-5-5': [],
      // Neither the vendor nor the list is known to say it.
      'gpt-6.2-sol': ['image_tokens', 'dated', 'thinks'],
      'gpt-6.1-terra': ['image_tokens'],
    })
  })

  it('writes samples of other vendors that can be applied', async () => {
    const folder = newFolder()
    await json(folder, 'init')
    const path = join(folder, 'catalog.yaml')
    writeFileSync(path, withSamples(readFileSync(path, 'utf8')))
    const { diff } = await json(folder, 'apply -f catalog.yaml --dry-run')
    const added = (diff as { kind: string; name: string }[])
      .filter(({ kind }) => kind === 'channel')
      .map(({ name }) => name)
    assert.equal(added.length, 8)
    assert.ok(added.includes('azure-main'))
  })
})

describe('what init writes', () => {
  let sandbox: Sandbox
  let program: Program
  before(async () => {
    sandbox = await startSandbox({
      credentials: { 'anthropic-main': 'first-key', 'openai-main': 'second-key' },
    })
    program = await openProgram({ ANTHROPIC_API_KEY: 'first-key', OPENAI_API_KEY: 'second-key' })
  })
  after(async () => {
    await program.close()
    await sandbox.close()
  })

  it('is applied as it is, passes doctor, and serves requests of both formats', async () => {
    await program.json('init')
    const dryRun = await program.json('apply', '-f', 'catalog.yaml', '--dry-run')
    assert.deepEqual([dryRun['kind'], dryRun['notes']], ['would_apply', []])

    const text = readFileSync(join(program.folder, 'catalog.yaml'), 'utf8')
      .replace('https://api.anthropic.com', `${sandbox.url}/anthropic-main`)
      .replace('https://api.openai.com', `${sandbox.url}/openai-main`)
    await program.write('catalog.yaml', text)
    await program.json('apply', '-f', 'catalog.yaml')
    await program.json('account', 'create', 'acme', '--balance', '10')
    const { key } = await program.json('key', 'create', 'acme')
    const { findings } = await program.json<{ findings: { status: string; message: string }[] }>(
      'doctor',
    )
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
    const rows = await program.json<RevenueRow[]>('report', '--by', 'model')
    assert.deepEqual(rows.map(({ model }) => model).sort(), ['claude-haiku-5-5', 'gpt-6.1-terra'])
    for (const { model, revenue_usd } of rows) assert.ok(Number(revenue_usd) > 0, model)
  })
})

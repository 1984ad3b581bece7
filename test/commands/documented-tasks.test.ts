/**
 * Runs the pages of docs/tasks/ as an operator would, in the order of their list, beside a running gateway.
 * A line of a `text` block must be in the output of the commands above it, in its order; `…` stands for
 * anything. Comments `<!-- test: … -->` say what happens between: `request MODEL STATUS` sends a request with
 * the newest key, and `vendor counts` writes the export of a vendor that counts as the gateway does.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { makeSecret } from '../../src/access/key.ts'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'
import { demoCatalogueWith } from '../support/catalogues.ts'
import type { Ran } from '../support/command-hosts.ts'
import { eventually } from '../support/eventually.ts'
import { openProgram, type Program, type Serving } from '../support/program.ts'

const repository = join(import.meta.dirname, '..', '..')
const pages = join(repository, 'docs', 'tasks')
/** The day on which the days in the pages are meant. */
const writtenOn = Date.UTC(2026, 10, 23)
const dayMs = 86_400_000
const adminToken = makeSecret('admin')

const prices =
  '{"large-1": {"input_cost_per_token": 3e-6, "output_cost_per_token": 1.5e-5, "mode": "chat"}}'

type Part =
  | { readonly kind: 'sh' | 'text'; readonly lines: readonly string[] }
  | { readonly kind: 'request'; readonly model: string; readonly status: number }
  | { readonly kind: 'counts' }

function partsOf(task: string): readonly Part[] {
  const pattern = /^```(sh|text)\n(.*?)^```$|^<!-- test: (\S+) (\S+)(?: (\d+))? -->$/gms
  return [...task.matchAll(pattern)].map(([, kind, block, does, what, status]): Part => {
    if (kind === 'sh' || kind === 'text') return { kind, lines: (block ?? '').trim().split('\n') }
    if (does === 'request') return { kind: 'request', model: what ?? '', status: Number(status) }
    return { kind: 'counts' }
  })
}

interface Charged {
  readonly models: readonly {
    readonly model: string
    readonly counts: readonly { readonly figure: string; readonly expected: number }[]
  }[]
}

const list = readFileSync(join(pages, 'readme.md'), 'utf8')
const tasks = [...list.matchAll(/^\d+\. \[(.+)\]\((.+)\)$/gm)].map(([, title = '', name = '']) => ({
  title,
  name,
  parts: partsOf(readFileSync(join(pages, name), 'utf8')),
}))

describe('tasks of an operator', () => {
  let sandbox: Sandbox
  let program: Program
  let serving: Serving
  /** What the newest output had. */
  const newest = { key: '', secret: '', request: '' }

  before(async () => {
    sandbox = await startSandbox()
    program = await openProgram({ TURNPIKE_ADMIN_TOKEN: adminToken })
    mkdirSync(join(program.folder, 'bin'))
    symlinkSync(join(repository, 'bin', 'turnpike'), join(program.folder, 'bin', 'turnpike'))
    await program.write(
      'catalog.yaml',
      demoCatalogueWith({ every: { check: 'none' } })(sandbox.url),
    )
    await program.write('model_prices_and_context_window.json', prices)
    await program.write('token.txt', adminToken)
    await program.json('apply', '-f', 'catalog.yaml')
    serving = await program.serve()
  })

  after(async () => {
    await program.close()
    await sandbox.close()
  })

  function filledIn(line: string): string {
    return line
      .replaceAll('key_…', newest.key)
      .replaceAll('ex_…', newest.request)
      .replaceAll('https://ops.example:8081', serving.adminUrl)
      .replaceAll(/\b20\d\d-\d\d-\d\d\b/g, (day) => {
        const movedMs = Date.parse(day) + (Math.floor(Date.now() / dayMs) * dayMs - writtenOn)
        return new Date(movedMs).toISOString().slice(0, 10)
      })
  }

  async function type(line: string): Promise<string> {
    const given = filledIn(line)
    const { folder } = program
    const env = { PATH: process.env['PATH'] }
    const [failure, out] = await new Promise<[Error | null, string]>((resolve) => {
      execFile('sh', ['-c', given], { cwd: folder, env }, (error, stdout) =>
        resolve([error, stdout]),
      )
    })
    assert.equal(failure, null, `${given}: ${failure?.message}\n${out}`)
    newest.secret = /\bcr_[0-9A-Za-z]{49}\b/.exec(out)?.[0] ?? newest.secret
    if (given.includes(' key ')) newest.key = /\bkey_[0-9a-z]{26}\b/.exec(out)?.[0] ?? newest.key
    return out
  }

  async function request(model: string): Promise<number> {
    const answer = await fetch(`${serving.url}/alpha/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': newest.secret, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        max_tokens: 9,
        messages: [{ role: 'user', content: 'hello' }],
      }),
    })
    newest.request = answer.headers.get('x-turnpike-request-id') ?? ''
    await answer.text()
    const shown = (): Promise<Ran> => program.run('request', 'show', newest.request)
    await eventually('the request is logged', shown, ({ code }) => code === 0)
    return answer.status
  }

  async function writeCounts(): Promise<void> {
    const { models } = await program.json<Charged>(
      ...'channel reconcile all --from 2026-01-01 --to 2099-01-01'.split(' '),
    )
    const rows = models.map(({ model, counts }) => {
      const of = (name: string): number =>
        counts.find(({ figure }) => figure === name)?.expected ?? 0
      return [model, of('requests'), of('input'), of('output')].join(',')
    })
    await program.write('counts.csv', ['model,requests,input,output', ...rows, ''].join('\n'))
  }

  function assertShows(out: string, lines: readonly string[]): void {
    const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    let from = 0
    for (const line of lines) {
      const pieces = filledIn(line.replaceAll(/\b(key|ex)_…/g, '$1_\u0000'))
        .replaceAll('\u0000', '…')
        .split('…')
        .map((piece) => escape(piece).replaceAll(/\s+/g, '\\s+'))
      const found = new RegExp(pieces.join('.*'), 's').exec(out.slice(from))
      assert.ok(found !== null, `"${line}" is not in the rest of:\n${out}`)
      from += found.index + 1
    }
  }

  it('the list has every page', () => {
    const names = readdirSync(pages).filter((name) => name !== 'readme.md')
    assert.deepEqual(tasks.map(({ name }) => name).toSorted(), names.toSorted())
  })

  for (const { title, parts } of tasks)
    it(title, async () => {
      let out = ''
      /** What a page such as tasks/another-machine.md has set: each command has a shell of its own. */
      const exports: string[] = []
      for (const part of parts) {
        if (part.kind === 'request') assert.equal(await request(part.model), part.status)
        else if (part.kind === 'text') assertShows(out, part.lines)
        else if (part.kind === 'counts') await writeCounts()
        else {
          out = ''
          for (const line of part.lines)
            if (line.startsWith('export ')) exports.push(line)
            else out += await type([...exports, line].join('\n'))
        }
      }
    })
})

/**
 * docs/first-hour.md, played as it is printed by a newcomer and by an operator: an empty folder with the
 * files of the release, a path with the tools of a minimal system, no registry. Only ports and secrets are
 * filled in. Each `text` block must be in the output of the block before it.
 */
import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { signIn } from '../support/browser-session.ts'
import { noRegistry } from '../support/checkout.ts'
import { gather, type Gathered } from '../support/gather.ts'
import { packRelease, releaseName } from '../support/packed-release.ts'
import { findFreePort } from '../support/postgres.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/first-hour.md'), 'utf8')
const [, newcomer = '', operator = ''] = page.split(/^## /m)

/** What a minimal system has: no Node, no npm. */
const tools = 'sh env uname dirname readlink tar gzip sha256sum cat mkdir mv curl'.split(' ')

/** Commands that run until a signal, and the line that says that they do. */
const running: Readonly<Record<string, RegExp>> = {
  'turnpike start': /Press Ctrl-C/,
  'turnpike sandbox': /listen on/,
  'turnpike serve': /"msg":"serving"/,
}

interface Block {
  readonly kind: string
  readonly text: string
}

function blocksOf(part: string): readonly Block[] {
  return [...part.matchAll(/^```(sh|text)\n(.*?)^```$/gms)].map(([, kind = '', text = '']) => ({
    kind,
    text: text.trim(),
  }))
}

interface Background {
  readonly child: ChildProcess
  readonly out: Gathered
}

class Machine {
  readonly folder: string
  readonly ports: { readonly clients: number; readonly operators: number; readonly vendors: number }
  readonly #bin: string
  readonly #background: Background[] = []
  #key = ''

  constructor(parent: string, ports: Machine['ports']) {
    this.folder = mkdtempSync(join(parent, 'machine-'))
    this.ports = ports
    this.#bin = join(this.folder, '.bin')
    mkdirSync(this.#bin)
    for (const tool of tools) {
      const { stdout } = spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' })
      symlinkSync(stdout.trim(), join(this.#bin, tool))
    }
  }

  /** Types the blocks in their order; returns what the last one has printed. */
  async type(blocks: readonly Block[]): Promise<string> {
    let out = ''
    for (const { kind, text } of blocks)
      if (kind === 'text') assert.ok(out.includes(text), `"${text}" is not in:\n${out}`)
      else if (Object.keys(running).some((words) => text.startsWith(words)))
        out = await this.#start(text)
      else out = await this.run(text)
    return out
  }

  async run(text: string): Promise<string> {
    const script = `set -e\n${this.#filledIn(text)}`
    const [code, out] = await new Promise<[number, string]>((resolve) => {
      execFile('sh', ['-c', script], this.#options(), (failure, stdout, stderr) => {
        resolve([failure === null ? 0 : 1, stdout + stderr])
      })
    })
    assert.equal(code, 0, `${text}\n${out}`)
    this.#key = /\bcr_[0-9A-Za-z]{49}\b/.exec(out)?.[0] ?? this.#key
    return out
  }

  async #start(text: string): Promise<string> {
    const ready = Object.entries(running).find(([words]) => text.startsWith(words))?.[1] ?? /^/
    const child = spawn('sh', ['-c', `exec ${this.#filledIn(text)}`], this.#options())
    const out = gather(child.stdout)
    this.#background.push({ child, out })
    await out.until(ready)
    return out.text()
  }

  /** SIGTERM to the program that was started last; it has to end with 0. */
  async stop(): Promise<void> {
    const last = this.#background.pop()
    assert.ok(last !== undefined)
    const ended = once(last.child, 'close') as Promise<[number | null]>
    last.child.kill('SIGTERM')
    assert.equal((await ended)[0], 0)
  }

  async close(): Promise<void> {
    for (const { child } of this.#background) {
      const ended = once(child, 'close')
      if (child.exitCode === null && child.kill('SIGKILL')) await ended
    }
  }

  #filledIn(text: string): string {
    const { clients, vendors } = this.ports
    return text
      .replaceAll('turnpike-0.1.0-linux-x64', releaseName)
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${clients}`)
      .replaceAll('127.0.0.1:9100', `127.0.0.1:${vendors}`)
      .replaceAll('cr_…', this.#key)
  }

  #options(): { cwd: string; env: Record<string, string> } {
    const { clients, operators } = this.ports
    const program = join(this.folder, releaseName, 'bin')
    const env = {
      PATH: `${program}:${this.#bin}`,
      HOME: this.folder,
      npm_config_registry: noRegistry,
      TURNPIKE_LISTEN: `127.0.0.1:${clients}`,
      TURNPIKE_ADMIN_LISTEN: `127.0.0.1:${operators}`,
    }
    return { cwd: this.folder, env }
  }
}

describe('the first hour, from the archive alone', () => {
  let parent: string
  let out: string
  const machines: Machine[] = []
  before(async () => {
    out = await packRelease()
    parent = mkdtempSync(join(tmpdir(), 'turnpike-first-hour-'))
  })
  after(async () => {
    for (const machine of machines) await machine.close()
    rmSync(parent, { recursive: true, maxRetries: 3 })
  })

  async function newMachine(): Promise<Machine> {
    const machine = new Machine(parent, {
      clients: await findFreePort(),
      operators: await findFreePort(),
      vendors: await findFreePort(),
    })
    machines.push(machine)
    for (const name of [`${releaseName}.tar.gz`, 'SHA256SUMS'])
      copyFileSync(join(out, name), join(machine.folder, name))
    return machine
  }

  it('of a newcomer: an answer by curl and by an SDK, the console, and the cost of both', async () => {
    const machine = await newMachine()
    const printed = await machine.type(blocksOf(newcomer))
    const [asking = '', usage = ''] = printed.split('\n').filter((line) => line.startsWith('curl '))
    assert.match(await machine.run(asking), /"type":"message"/)
    const base = /messages clients +(\S+)/.exec(printed)?.[1] ?? ''
    const key = /demo key +(\S+)/.exec(printed)?.[1] ?? ''
    const client = new Anthropic({ baseURL: base, apiKey: key })
    const message = await client.messages.create({
      model: 'large-1',
      max_tokens: 64,
      messages: [{ role: 'user', content: 'Hello' }],
    })
    assert.equal(message.type, 'message')
    assert.match(await machine.run(usage), /"requests":2\b/)
    const link = new URL(/^Console: (\S+)/m.exec(printed)?.[1] ?? '')
    const opened = await fetch(link)
    assert.match(await opened.text(), /<title>/)
    const signedIn = await signIn(link.origin, { code: link.hash.slice(1) })
    assert.ok(signedIn.status < 300, signedIn.text)
    const website = join(machine.folder, releaseName, 'website')
    assert.match(readFileSync(join(website, 'first-hour.html'), 'utf8'), /href="upgrading\.html"/)
    await machine.stop()
  })

  it('of an operator: install, sell, watch, back up, restore, upgrade, verify, stop', async () => {
    const machine = await newMachine()
    const [install] = blocksOf(newcomer)
    await machine.type([install ?? assert.fail('no block')])
    const blocks = blocksOf(operator)
    const restoring = blocks.findIndex(({ text }) => text.includes('turnpike restore'))
    await machine.type(blocks.slice(0, restoring))
    await machine.stop()
    await machine.type(blocks.slice(restoring))
    await machine.stop()
  })
})

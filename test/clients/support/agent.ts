/**
 * Runs a program of the command line as its page says: with the page's settings and the page's command, in a
 * home of its own. Each works in a folder with one file, `greeting.txt`.
 */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { scriptDirective } from '../../../sandbox/script.ts'
import { runChild, type ChildResult } from './child.ts'
import type { Caller, ClientRig } from './client-rig.ts'
import { watchOutside } from './outside.ts'
import { codeBlock, fillIn, readPage } from './page.ts'

/** Tool calls for a vendor to make, one step after the other. */
export type Script = Parameters<typeof scriptDirective>[0]

export interface Agent {
  /** Name of its page under docs/clients. */
  readonly page: string
  /** The file of settings that the page shows. */
  readonly settings?: {
    /** Below the home folder. */
    readonly path: string
    readonly language: string
    /** Before the page's settings: what a test needs and a user does not. */
    readonly preface?: string
  }
  /** Where its program is, if not among the commands of the installed packages. */
  readonly program?: { readonly name: string; readonly path: string }
  /** Variables that keep it from asking for news, updates and the like. */
  readonly env: Readonly<Record<string, string>>
  /** Files that do the same, or let it work without asking; below the home folder. */
  readonly files?: Readonly<Record<string, string>>
  /** The variable with headers for its requests, where the last words of a user are not the prompt's. */
  readonly headerVariable?: string
}

export interface AgentRun {
  readonly caller: Pick<Caller, 'key' | 'name' | 'headers'>
  readonly prompt?: string
  /** Tool calls that the vendor is to make, given the path of `greeting.txt`. */
  readonly script?: (file: string) => Script
  /** In place of the page's settings. */
  readonly settings?: string | undefined
  /** Options for the page's command, before the prompt. */
  readonly options?: string
  readonly timeoutMs?: number
}

export interface AgentResult extends ChildResult {
  /** What `greeting.txt` says at the end; it begins as `Good morning`. */
  readonly greeting: string
  /** What its command has written to `count.txt`; undefined where it ran none. */
  readonly count: string | undefined
  /** Hosts beyond loopback that it asked for. */
  readonly outside: readonly string[]
}

/** The prompt of every page's command. */
const shownPrompt = 'Say good morning.'
const commands = join(import.meta.dirname, '..', 'node_modules', '.bin')
type Place = Pick<ClientRig, 'origin'>

export async function runAgent(rig: Place, agent: Agent, run: AgentRun): Promise<AgentResult> {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-agent-'))
  const outside = await watchOutside()
  const [home, work, bin] = ['home', 'work', 'bin'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const greeting = join(work, 'greeting.txt')
  try {
    for (const path of [home, work, bin]) await mkdir(path)
    await writeFile(greeting, 'Good morning\n')
    if (agent.program !== undefined)
      await symlink(agent.program.path, join(bin, agent.program.name))
    for (const [path, text] of Object.entries(settingsOf(rig, agent, run))) {
      await mkdir(dirname(join(home, path)), { recursive: true })
      await writeFile(join(home, path), text)
    }
    const result = await runChild({
      command: 'sh',
      args: ['-c', commandOf(rig, agent, run, greeting)],
      cwd: work,
      timeoutMs: run.timeoutMs ?? 120_000,
      env: {
        ...outside.env,
        ...agent.env,
        ...headersFor(agent, run, greeting),
        PATH: [bin, commands, dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
        HOME: home,
        TMPDIR: folder,
      },
    })
    return {
      ...result,
      greeting: await readFile(greeting, 'utf8'),
      count: await readFile(join(work, 'count.txt'), 'utf8').catch(() => undefined),
      outside: [...outside.hosts],
    }
  } finally {
    await outside.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The files that its settings consist of, by their path below the home folder. */
function settingsOf(
  rig: Place,
  { page, settings, files = {} }: Agent,
  run: AgentRun,
): Readonly<Record<string, string>> {
  if (settings === undefined) return files
  const text = readPage(page)
  assert.ok(text.includes(`\`~/${settings.path}\``), `the page does not name ~/${settings.path}`)
  const shown = run.settings ?? codeBlock(text, settings.language)
  const filled = fillIn(shown, { origin: rig.origin, key: run.caller.key })
  return { ...files, [settings.path]: (settings.preface ?? '') + filled }
}

/** The page's command, with another prompt. */
function commandOf(rig: Place, agent: Agent, run: AgentRun, file: string): string {
  const place = { origin: rig.origin, key: run.caller.key }
  const shown = fillIn(codeBlock(readPage(agent.page), 'sh'), place)
  const last = `"${shownPrompt}"\n`
  assert.ok(shown.endsWith(last), `the page's last command does not end in ${last}`)
  const prompt = run.prompt ?? shownPrompt
  const [marker, script] = [
    `[[marker: ${run.caller.name}]]`,
    `[[sandbox: ${directives(run, file)}]]`,
  ]
  const sent = agent.headerVariable === undefined ? `${prompt} ${marker} ${script}` : prompt
  return `${shown.slice(0, -last.length)}${run.options ?? ''} "${sent}"`
}

/** The page's command as it stands there, with these options. */
export function shownCommand({ page }: Agent, options: string): string {
  const shown = codeBlock(readPage(page), 'sh')
  return options === '' ? shown : shown.replace(`"${shownPrompt}"`, `${options} "${shownPrompt}"`)
}

function headersFor(agent: Agent, run: AgentRun, file: string): Readonly<Record<string, string>> {
  if (agent.headerVariable === undefined) return {}
  const headers = { ...run.caller.headers, 'x-sandbox': directives(run, file) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return { [agent.headerVariable]: lines.join('\n') }
}

function directives(run: AgentRun, file: string): string {
  return run.script === undefined ? '' : scriptDirective(run.script(file))
}

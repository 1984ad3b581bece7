/**
 * Starts Claude Code as its users do, from its npm package, in a home of its own. The package's
 * install script only copies the platform's binary to a common place; without it the binary is
 * taken from the platform's package directly.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runChild, type ChildResult } from './child.ts'
import type { Caller, ClientRig } from './client-rig.ts'

const require = createRequire(import.meta.url)

/** npm installs the one package that fits the platform and its C library. */
export function findBinary(): string {
  const names = ['', '-musl'].map(
    (suffix) => `@anthropic-ai/claude-code-${process.platform}-${process.arch}${suffix}`,
  )
  for (const name of names) {
    const manifest = findManifest(name)
    if (manifest === undefined) continue
    const binary = join(dirname(manifest), 'claude')
    if (existsSync(binary)) return binary
  }
  throw new Error(`Claude Code has no binary among ${names.join(', ')}.`)
}

function findManifest(name: string): string | undefined {
  try {
    return require.resolve(`${name}/package.json`)
  } catch {
    return undefined // Not the package of this platform.
  }
}

export interface ClaudeCodeRun {
  readonly prompt: string
  readonly args?: readonly string[]
  readonly model?: string
  /** Which variable carries the key. */
  readonly keyVariable?: 'ANTHROPIC_AUTH_TOKEN' | 'ANTHROPIC_API_KEY'
  /** Said to the vendors with every request. */
  readonly directives?: string
}

/** Nothing of the developer's own set-up may leak in, and nothing may leave the machine. */
const isolation = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_BUG_COMMAND: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_TELEMETRY: '1',
  // Whatever it might ask for beyond loopback ends at the discard port.
  HTTPS_PROXY: 'http://127.0.0.1:9',
  HTTP_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1',
}

export async function runClaudeCode(
  rig: ClientRig,
  caller: Caller,
  run: ClaudeCodeRun,
): Promise<ChildResult> {
  const home = await mkdtemp(join(tmpdir(), 'turnpike-claude-'))
  const headers = { ...caller.headers, 'x-sandbox': run.directives ?? '' }
  const model = run.model ?? 'large-1'
  try {
    return await runChild({
      command: findBinary(),
      args: ['-p', run.prompt, ...(run.args ?? [])],
      cwd: home,
      timeoutMs: 300_000,
      env: {
        ...isolation,
        PATH: process.env['PATH'] ?? '',
        HOME: home,
        TMPDIR: home,
        CLAUDE_CONFIG_DIR: join(home, 'config'),
        ANTHROPIC_BASE_URL: rig.messagesUrl,
        [run.keyVariable ?? 'ANTHROPIC_AUTH_TOKEN']: caller.key,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: 'small-1',
        ANTHROPIC_CUSTOM_HEADERS: Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n'),
      },
    })
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

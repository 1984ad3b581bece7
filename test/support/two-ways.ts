/**
 * Two equal stores, each with a running gateway: commands work on the first one directly, and on the second
 * one through its admin API. What they print is compared after ids, times and measured figures are replaced.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { makeSecret } from '../../src/access/key.ts'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { run, type Ran } from './command-line.ts'
import { eventually } from './eventually.ts'
import { openProgram, type Serving } from './program.ts'
import { newStoreUrl } from './test-store.ts'

interface Compared {
  /** What both printed, with ids as `key_#1`, times as `TIME`. */
  readonly out: string
  readonly error: string
  readonly code: number
}

/** What was there before on both sides: the last ids and secrets that a command printed. */
interface Side {
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly serving: Serving
  /** What only this side has, and the word in its place: its store, its actor, its admin token. */
  readonly own: Readonly<Record<string, string>>
  readonly known: Map<string, string>
}

export interface TwoWays {
  /**
   * Runs a line both ways and expects the same output and exit code. `{name}` in it is a value that
   * `keep` has kept. `isMeasured`: the output has figures that differ from run to run.
   */
  readonly same: (line: string, options?: { readonly isMeasured?: boolean }) => Promise<Compared>
  /** Runs a line with `--json` both ways and keeps a field of each answer for later lines. */
  readonly keep: (name: string, line: string, field: string) => Promise<void>
  /** Runs a line both ways until both outputs match: for what a gateway publishes a little later. */
  readonly until: (line: string, pattern: RegExp) => Promise<void>
  /** Sends a request to both gateways, with the key kept under this name, and keeps its id. */
  readonly ask: (key: string, keptAs: string, model?: string) => Promise<number>
  readonly close: () => Promise<void>
}

const adminToken = makeSecret('admin')
const masterKey = '5'.repeat(64)

export async function startTwoWays(
  files: (sandboxUrl: string) => Readonly<Record<string, string>>,
): Promise<TwoWays> {
  const sandbox = await startSandbox()
  const root = mkdtempSync(join(tmpdir(), 'turnpike-two-ways-'))
  const programs: { close(): Promise<void> }[] = []
  const newSide = async (name: string, isRemote: boolean): Promise<Side> => {
    const cwd = join(root, name)
    mkdirSync(join(cwd, 'store'), { recursive: true })
    for (const [file, text] of Object.entries(files(sandbox.url)))
      writeFileSync(join(cwd, file), text)
    const store = await newStoreUrl(join(cwd, 'store'))
    const settings = {
      TURNPIKE_STORE: store,
      TURNPIKE_MASTER_KEY: masterKey,
      TURNPIKE_ADMIN_TOKEN: adminToken,
      TURNPIKE_NODE_NAME: 'node',
      TURNPIKE_ALERT_NETWORKS: '127.0.0.1',
      TURNPIKE_LISTEN: '127.0.0.1:0',
      TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
      // Old requests are removed at a random moment after the start. What was removed would be shown.
      TURNPIKE_REQUEST_RETENTION: '36500d',
    }
    const program = await openProgram(settings)
    programs.push(program)
    const serving = await program.serve()
    const remote = { TURNPIKE_SERVER: serving.adminUrl, TURNPIKE_TOKEN: adminToken }
    const environment = isRemote ? remote : settings
    const listed = await run(cwd, ['admin-token', 'list', '--json'], environment)
    const [token] = JSON.parse(listed.out) as readonly { readonly id: string }[]
    const own = {
      [token?.id ?? '']: 'ACTOR',
      [`cli:${userInfo().username}`]: 'ACTOR',
      [store]: 'STORE',
      [cwd]: 'CWD',
    }
    return { cwd, environment, serving, own, known: new Map([['SANDBOX', sandbox.url]]) }
  }
  const close = async (): Promise<void> => {
    for (const program of programs) await program.close()
    await sandbox.close()
    rmSync(root, { recursive: true, force: true })
  }
  const sides = await (async () => {
    try {
      return [await newSide('direct', false), await newSide('remote', true)] as const
    } catch (error) {
      await close()
      throw error
    }
  })()

  async function both<Value>(work: (side: Side) => Promise<Value>): Promise<[Value, Value]> {
    return Promise.all([work(sides[0]), work(sides[1])])
  }

  return {
    async same(line, { isMeasured = false } = {}) {
      const [direct, remote] = await both(async (side) =>
        view(side, await runOn(side, line), isMeasured),
      )
      assert.deepEqual({ line, ...remote }, { line, ...direct })
      return direct
    },
    async keep(name, line, field) {
      await both(async (side) => {
        const { code, out, error } = await runOn(side, `${line} --json`)
        assert.equal(code, 0, `${line}: ${error}`)
        side.known.set(name, String((JSON.parse(out) as Record<string, unknown>)[field]))
      })
    },
    async until(line, pattern) {
      await both((side) =>
        eventually(
          line,
          () => runOn(side, line),
          ({ out }) => pattern.test(out),
        ),
      )
    },
    async ask(key, keptAs, model = 'large-1') {
      const [status] = await both(async ({ serving, known }) => {
        const answer = await fetch(`${serving.url}/alpha/v1/messages`, {
          method: 'POST',
          headers: { 'x-api-key': known.get(key) ?? '', 'content-type': 'application/json' },
          body: JSON.stringify({
            model,
            max_tokens: 20,
            messages: [{ role: 'user', content: 'hi' }],
          }),
        })
        known.set(keptAs, answer.headers.get('x-turnpike-request-id') ?? '')
        await answer.text()
        return answer.status
      })
      return status
    },
    close,
  }
}

function runOn({ cwd, environment, known }: Side, line: string): Promise<Ran> {
  const words = line
    .split(' ')
    .map((word) => word.replaceAll(/\{(\w+)\}/g, (_, name: string) => known.get(name) ?? ''))
  return run(cwd, words, environment)
}

/** Replaces what differs from store to store. Columns move with the width of what is replaced. */
function view({ own }: Side, { code, out, error }: Ran, isMeasured: boolean): Compared {
  const ids = new Map<string, string>()
  const plain = (text: string): string =>
    Object.entries(own)
      .reduce((rest, [word, place]) => rest.replaceAll(word, place), text)
      .replaceAll(/sealed:[\w.-]+/g, 'SEALED')
      .replaceAll(/whsec_[\w+/=-]+/g, 'WHSEC')
      .replaceAll(/\b(cr|ro|ad|tc)_[0-9A-Za-z]{49}\b/g, '$1_SECRET')
      .replaceAll(/\b(cr|ro|ad|tc)_[0-9A-Za-z]{4}…/g, '$1_HEAD')
      .replaceAll(/\b[a-z]{2,5}_[0-9a-z]{26}\b/g, (id) => {
        if (!ids.has(id)) ids.set(id, `${id.split('_')[0]}_#${ids.size + 1}`)
        return ids.get(id) ?? ''
      })
      // Ids, public keys and signatures of the keys that sign the books.
      .replaceAll(/\b(?:[0-9a-f]{16}|[0-9a-f]{64}|[0-9a-f]{128})\b/g, 'SIGNING')
      .replaceAll(/\b20\d\d-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      // The revision of a catalogue: a number, and a part of a hash over actor and time.
      .replaceAll(/(?<=revision"?:? +"?)\d+-[0-9a-f]{8}\b/g, 'REVISION')
      // Only a token has a name.
      .replaceAll(/(?<="actor_name": )(null|"[^"]*")/g, 'NAME')
      .replaceAll(/(?<=^actor_name  ).+$/gm, 'NAME')
      .replaceAll('admin_token setting (ACTOR)', 'ACTOR')
      // When a token was used last shows up to a minute late; only the API uses one.
      .replaceAll(/(?<=^ACTOR  ad_HEAD.*)(TIME|–)$|(?<="last_used_at": )(null|"TIME")/gm, 'USED')
      .replaceAll(isMeasured ? /\d+(\.\d+)?/g : /(?!)/g, 'N')
      .replaceAll(isMeasured ? /N (ms|s|min|h)\b/g : /(?!)/g, 'AGE')
      .replaceAll(/ {2,}/g, '  ')
  return { code, out: plain(out), error: plain(error) }
}

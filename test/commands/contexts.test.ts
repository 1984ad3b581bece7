/**
 * Where a command works: by option, environment or saved context, and in which order. `context show` says
 * where; nothing is sent. No output holds a token.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { makeSecret } from '../../src/access/key.ts'
import { bareEnvironment, newFolder, type Ran } from '../support/command-line.ts'
import { gather } from '../support/gather.ts'

const program = join(import.meta.dirname, '..', '..', 'src', 'cli.ts')

interface Desk {
  /** Runs a line; `input` is its standard input. */
  readonly type: (line: string, input?: string, more?: Record<string, string>) => Promise<Ran>
  readonly file: string
  readonly home: Readonly<Record<string, string>>
}

/** A user with a home of their own. */
function newDesk(): Desk {
  const folder = newFolder()
  const home = { XDG_CONFIG_HOME: join(folder, 'config') }
  return {
    home,
    file: join(folder, 'config', 'turnpike', 'contexts.json'),
    type: (line, input = '', more = {}) =>
      new Promise((resolve) => {
        const env = { ...bareEnvironment, ...home, ...more }
        const child = execFile(
          process.execPath,
          [program, ...line.split(' ')],
          { cwd: folder, env },
          (failure, out, error) => {
            resolve({ code: typeof failure?.code === 'number' ? failure.code : 0, out, error })
          },
        )
        child.stdin?.end(input)
      }),
  }
}

async function placeOf({ type }: Desk, line: string, more?: Record<string, string>) {
  const { code, out, error } = await type(`${line} --json`, '', more)
  assert.deepEqual({ code, error }, { code: 0, error: '' })
  return JSON.parse(out) as Readonly<Record<string, string>>
}

describe('a saved context', () => {
  it('keeps the token in a file that only its owner can read, and shows only its head', async () => {
    const desk = newDesk()
    const token = makeSecret('admin')
    const added = await desk.type('context add prod --server https://ops.example:8081', token)
    assert.equal(added.code, 0)
    assert.equal(statSync(desk.file).mode & 0o777, 0o600)
    assert.equal(statSync(join(desk.file, '..')).mode & 0o777, 0o700)
    assert.match(readFileSync(desk.file, 'utf8'), new RegExp(token))
    for (const line of ['context list', 'context list --json', 'context show']) {
      const { code, out, error } = await desk.type(line)
      assert.equal(code, 0)
      assert.match(out, /https:\/\/ops\.example:8081\//)
      assert.match(out, new RegExp(token.slice(0, 7)))
      assert.doesNotMatch(added.out + added.error + out + error, new RegExp(token.slice(0, 12)))
    }
  })

  it('is refused where others can read its file', async () => {
    const desk = newDesk()
    await desk.type('context add prod --server https://ops.example', makeSecret('admin'))
    chmodSync(desk.file, 0o640)
    const { code, error } = await desk.type('account list')
    assert.equal(code, 2)
    assert.match(error, /Other users can read the tokens in .*contexts\.json\. Run: chmod 600 /)
  })

  it('is the first one added, until another is used or it is removed', async () => {
    const desk = newDesk()
    await desk.type('context add prod --server https://prod.example', makeSecret('admin'))
    await desk.type('context add test --server https://test.example/base/', makeSecret('admin'))
    assert.equal((await placeOf(desk, 'context show'))['server'], 'https://prod.example/')
    assert.equal((await desk.type('context use test')).code, 0)
    assert.equal((await placeOf(desk, 'context show'))['server'], 'https://test.example/base/')
    assert.equal((await desk.type('context use other')).code, 2)
    assert.match((await desk.type('context remove test')).out, /commands work on the store/)
    assert.match(String((await placeOf(desk, 'context show'))['store']), /^sqlite:/)
    assert.match((await desk.type('context list')).out, /prod\s+https:\/\/prod\.example\//)
  })

  it('takes the token at a terminal without showing it', async () => {
    const desk = newDesk()
    const token = makeSecret('admin')
    const command = `${process.execPath} ${program} context add prod --server https://ops.example`
    const words = ['--quiet', '--return', '--command', command, '/dev/null']
    const child = spawn('script', words, {
      env: { ...bareEnvironment, ...desk.home },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const closed = once(child, 'close')
    const out = gather(child.stdout)
    await out.until(/Admin token/)
    child.stdin.write(`${token}\r`)
    await closed
    assert.match(out.text(), /Saved prod/)
    assert.doesNotMatch(out.text(), new RegExp(token))
    assert.match(readFileSync(desk.file, 'utf8'), new RegExp(token))
  })

  it('refuses what is no admin token, no address, or no name', async () => {
    const desk = newDesk()
    const add = (words: string, token = makeSecret('admin')): Promise<Ran> =>
      desk.type(`context add ${words}`, token)
    for (const token of ['', 'secret', makeSecret('client'), 'ad_short', 'ad_not a token at all'])
      assert.match((await add('a --server https://a.example', token)).error, /admin token: ad_/)
    for (const [words, message] of [
      ['a --server ops.example:8081', /Write it as https:\/\/HOST:PORT/],
      ['a --server ftp://ops.example', /Write it as https/],
      ['a --server https://me:pw@ops.example', /no user, query or fragment/],
      ['a --server http://ops.example', /Use https for ops\.example/],
      ['a --server http://10.0.0.1:8081', /Use https for 10\.0\.0\.1:8081/],
      ['a/b --server https://a.example', /letters, digits/],
      ['a', /Name the server/],
    ] as const) {
      const { code, error } = await add(words)
      assert.equal(code, 2)
      assert.match(error, message)
    }
    assert.equal((await add('a --server http://localhost:8081')).code, 0)
    assert.equal((await add('b --server http://[::1]:8081')).code, 0)
    assert.equal((await add('c --server http://127.0.0.1:8081')).code, 0)
  })
})

describe('a command works', () => {
  it('where --server, then TURNPIKE_SERVER, then --context, then the current context says', async () => {
    const desk = newDesk()
    const [one, two] = [makeSecret('admin'), makeSecret('admin')]
    await desk.type('context add one --server https://one.example', one)
    await desk.type('context add two --server https://two.example', two)
    const environment = {
      TURNPIKE_SERVER: 'https://env.example',
      TURNPIKE_TOKEN: makeSecret('admin'),
    }
    const at = async (line: string, more?: Record<string, string>) => {
      const place = await placeOf(desk, line, more)
      return [place['server'] ?? place['store']?.replace(/:.*/, ''), place['token']]
    }
    const headOf = (secret: string): string => `${secret.slice(0, 7)}…`
    assert.deepEqual(await at('context show'), ['https://one.example/', headOf(one)])
    assert.deepEqual(await at('context show --context two'), ['https://two.example/', headOf(two)])
    const own = headOf(environment.TURNPIKE_TOKEN)
    assert.deepEqual(await at('context show', environment), ['https://env.example/', own])
    const named = await at('context show --server https://two.example', environment)
    assert.deepEqual(named, ['https://two.example/', own])
    // The token of a saved server goes to that server.
    const saved = await at('context show --server https://two.example')
    assert.deepEqual(saved, ['https://two.example/', headOf(two)])
    assert.deepEqual(await at('context show --local', environment), ['sqlite', undefined])
  })

  it('nowhere where options contradict each other or the token is missing', async () => {
    const desk = newDesk()
    for (const [line, message] of [
      ['account list --server https://a.example --local', /Give only one of them/],
      ['account list --server https://a.example --context a', /not both/],
      ['account list --server https://a.example', /Set TURNPIKE_TOKEN to an admin token/],
      ['account list --context nowhere', /There is no context nowhere/],
      ['account list --server http://a.example', /Use https for a\.example/],
      ['migrate --server https://a.example', /on this host only/],
      ['restore x --server https://a.example', /on this host only/],
      ['serve --server https://a.example', /on this host only/],
      ['sandbox --server https://a.example', /on this host only/],
    ] as const) {
      const { code, out, error } = await desk.type(line)
      assert.deepEqual({ line, code, out }, { line, code: 2, out: '' })
      assert.match(error, message)
    }
    const token = { TURNPIKE_TOKEN: 'abc', TURNPIKE_SERVER: 'https://a.example' }
    const { error } = await desk.type('account list', '', token)
    assert.match(error, /TURNPIKE_TOKEN must be an admin token/)
    assert.doesNotMatch(error, /abc/)
  })

  it('may have any token that the setting admin_token allows', async () => {
    const desk = newDesk()
    const own = { TURNPIKE_TOKEN: 'ad_my-own_token-123', TURNPIKE_SERVER: 'https://a.example' }
    assert.equal((await placeOf(desk, 'context show', own))['server'], 'https://a.example/')
    const added = await desk.type('context add prod --server https://b.example', own.TURNPIKE_TOKEN)
    assert.deepEqual({ code: added.code, error: added.error }, { code: 0, error: '' })
  })
})

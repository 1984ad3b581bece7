/**
 * The program as scripts use it: child processes on stores of their own. Each command is run with
 * `--json`, and must leave exactly one JSON document on stdout; an error also on stderr, for people.
 */
import { after, before, describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseSecret } from '../../src/access/key.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { gather } from '../support/program.ts'

interface Ran {
  readonly code: number
  readonly out: string
  readonly error: string
}

const program = new URL('../../src/cli.ts', import.meta.url).pathname
let root: string
let folderCount = 0

before(() => {
  root = mkdtempSync(join(tmpdir(), 'turnpike-cli-'))
})

after(() => rmSync(root, { recursive: true }))

/** A folder with a store of its own. */
function newFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = join(root, `store-${folderCount++}`)
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

function run(
  cwd: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const env = {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: join(root, 'compile-cache'),
      ...environment,
    }
    execFile(process.execPath, [program, ...words], { cwd, env }, (failure, out, error) => {
      resolve({ code: typeof failure?.code === 'number' ? failure.code : 0, out, error })
    })
  })
}

/** Runs a command that serves, stops it once it has said something, and reads all of its stdout. */
async function runOn(
  cwd: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Record<string, unknown>> {
  const env = { PATH: process.env['PATH'], ...environment }
  const child = spawn(process.execPath, [program, ...words], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const closed = once(child, 'close')
  const out = gather(child.stdout)
  await Promise.race([out.until(/\n\}\n/), closed])
  child.kill('SIGTERM')
  assert.deepEqual(await closed, [0, null])
  return JSON.parse(out.text()) as Record<string, unknown>
}

/** Runs a line with `--json` and expects success. `more` are words with spaces in them. */
async function json(
  cwd: string,
  line: string,
  ...more: readonly string[]
): Promise<Record<string, unknown>> {
  const ran = await run(cwd, [...line.split(' '), ...more, '--json'])
  assert.equal(ran.code, 0, `${line}: ${ran.error}`)
  assert.equal(ran.error, '')
  return JSON.parse(ran.out) as Record<string, unknown>
}

/** Runs a line with `--json` and expects an error: as the one document, and in words on stderr. */
async function failure(
  cwd: string,
  line: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly exit: number; readonly code: string; readonly message: string }> {
  const ran = await run(cwd, [...line.split(' '), '--json'], environment)
  const { error } = JSON.parse(ran.out) as { error: { code: string; message: string } }
  assert.equal(ran.error, `turnpike: ${error.message}\n`)
  return { exit: ran.code, ...error }
}

function catalogue(url: string): string {
  return `
vendors:
  alpha:
    format: messages
    credential: x-api-key
    version_header: anthropic-version
    default_version: "2023-06-01"
models:
  large-1: { vendor: alpha, max_output_tokens: 8192, price: { input: 3.00, output: 15.00 } }
channels:
  alpha-main: { vendor: alpha, url: "${url}/alpha-main", credential: vendor-canary, models: [large-1] }
`
}

describe('account commands', () => {
  it('make, show, limit, suspend, resume and list accounts', async () => {
    const folder = newFolder()
    const made = await json(
      folder,
      'account create acme --balance 10 --daily 2.5 --rpm 60 --window 5',
    )
    assert.match(String(made['id']), /^acc_/)
    assert.equal(made['name'], 'acme')
    assert.equal(made['balance_usd'], 10)
    assert.deepEqual(await json(folder, 'account show acme'), made)
    const limited = await json(folder, 'account limits acme --rpm 0')
    assert.deepEqual(limited['limits'], {
      daily_usd: 2.5,
      rpm: 0,
      window_minutes: 5,
      price_multiplier: 1,
    })
    assert.equal((await json(folder, 'account suspend acme'))['status'], 'suspended')
    assert.equal((await json(folder, 'account resume acme'))['status'], 'active')
    assert.deepEqual(await json(folder, 'account list'), [limited])
    const [newest] = (await json(folder, 'actions')) as unknown as Record<string, unknown>[]
    assert.equal(newest?.['action'], 'account.resume')
    assert.equal(newest?.['actor'], `cli:${userInfo().username}`)
  })

  it('credit once per reference, however many processes try at once', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme')
    const line = 'account credit acme 7.25 --reference bank-1'
    const credits = await Promise.all(Array.from({ length: 4 }, () => json(folder, line)))
    assert.equal(credits.filter((credit) => credit['repeated'] === false).length, 1)
    assert.deepEqual(new Set(credits.map((credit) => credit['balance_usd'])), new Set([7.25]))
    const other = await failure(folder, line.replace('7.25', '8'))
    assert.equal(other.exit, 1)
    assert.equal(other.code, 'operations.conflict')
    assert.deepEqual((await json(folder, 'audit'))['differences'], [])
  })

  it('create a store together without losing anything', async () => {
    const folder = newFolder()
    const names = ['a', 'b', 'c', 'd']
    await Promise.all(names.map((name) => json(folder, `account create ${name}`)))
    const accounts = (await json(folder, 'account list')) as unknown as { name: string }[]
    assert.deepEqual(
      accounts.map((account) => account.name),
      names,
    )
  })

  it('show a statement and usage, as CSV without formulas too', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme --balance 1')
    await json(folder, 'account credit acme 2 --reference =1+1 --note', 'said "hi", @you')
    const statement = await json(folder, 'account statement acme')
    assert.equal(statement['sum'], '3')
    const { out } = await run(folder, ['account', 'statement', 'acme', '--csv'])
    const lines = out.split('\r\n')
    assert.match(lines[0] ?? '', /^at,kind,amount_usd,balance_usd,reference,key,.*,note$/)
    assert.match(lines[1] ?? '', /^,opening,,0,/)
    assert.match(lines[2] ?? '', /,credit,1,1,opening-balance,/)
    assert.match(lines[3] ?? '', /,credit,2,3,'=1\+1,.*,"said ""hi"", @you"$/)
    assert.match(lines[4] ?? '', /^,closing,,3,/)
    const usage = await json(folder, 'usage acme --period total')
    assert.deepEqual(Object.keys(usage), [
      'balance_usd',
      'currency',
      'period',
      'limits',
      'usage',
      'by_model',
    ])
    assert.equal(usage['balance_usd'], 3)
    assert.equal((await failure(folder, 'usage acme --period year')).exit, 2)
  })
})

describe('key commands', () => {
  it('make each kind, show its secret once, list and revoke it', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme')
    for (const [word, field, kind, account] of [
      ['key', 'key', 'client', ' acme'],
      ['token', 'token', 'reader', ' acme'],
      ['admin-token', 'token', 'admin', ''],
    ] as const) {
      const made = await json(folder, `${word} create${account} --name mine`)
      assert.deepEqual(parseSecret(String(made[field])), { kind })
      assert.deepEqual(Object.keys(made).slice(0, 2), ['id', field])
      const listed = (await json(folder, `${word} list${account}`)) as unknown as Record<
        string,
        unknown
      >[]
      assert.equal(listed[0]?.['name'], 'mine')
      assert.doesNotMatch(JSON.stringify(listed), new RegExp(String(made[field]).slice(8)))
      const revoked = await json(folder, `${word} revoke ${String(made['id'])}`)
      assert.equal(revoked['status'], 'revoked')
    }
  })

  it('restrict a key, and report every mistake at once', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme')
    const made = await json(
      folder,
      'key create acme --ip 192.0.2.0/24,2001:db8::/32 --ip 198.51.100.7 --daily 0.5 --expires 2099-12-31',
    )
    assert.deepEqual(made['ip'], ['192.0.2.0/24', '2001:db8::/32', '198.51.100.7'])
    assert.equal(made['expires_at'], '2100-01-01T00:00:00.000Z')
    const wrong = await failure(folder, 'key create acme --ip home --daily much --expires never')
    assert.equal(wrong.exit, 2)
    assert.match(wrong.message, /ip: .*daily_usd: .*expires: /)
    const unknown = await failure(folder, 'key create acme --models nonsense')
    assert.match(unknown.message, /models: unknown: nonsense/)
  })
})

describe('catalogue commands', () => {
  let sandbox: Sandbox

  before(async () => {
    sandbox = await startSandbox()
  })

  after(() => sandbox.close())

  it('apply, export, list, switch and check, with secrets kept', async () => {
    const folder = newFolder({ 'catalog.yaml': catalogue(sandbox.url) })
    const apply = 'apply -f catalog.yaml'
    assert.equal((await json(folder, `${apply} --dry-run`))['kind'], 'would_apply')
    assert.equal((await json(folder, apply))['kind'], 'applied')
    assert.equal((await json(folder, apply))['kind'], 'unchanged')
    assert.equal(statSync(join(folder, 'data', 'master.key')).mode & 0o777, 0o600)

    const { out } = await run(folder, ['export'])
    writeFileSync(join(folder, 'exported.yaml'), out)
    assert.equal((await json(folder, 'apply -f exported.yaml'))['kind'], 'unchanged')
    assert.deepEqual(Object.keys(await json(folder, 'export')), ['vendors', 'models', 'channels'])

    const checked = await json(folder, 'channel check alpha-main')
    assert.equal(checked['ok'], true)
    await json(folder, 'channel off alpha-main')
    const listed = await json(folder, 'channel list')
    assert.equal((listed as unknown as Record<string, unknown>[])[0]?.['enabled'], false)
    await json(folder, 'channel on alpha-main')
    const prices = (await json(folder, 'price list')) as unknown as Record<string, unknown>[]
    assert.equal(prices[0]?.['model'], 'large-1')

    const doctor = await json(folder, 'doctor')
    assert.equal(doctor['ok'], true)
    for (const text of [out, JSON.stringify([doctor, listed, checked])]) {
      assert.doesNotMatch(text, /vendor-canary/)
    }
    assert.equal(readFileSync(join(folder, 'data', 'turnpike.db')).indexOf('vendor-canary'), -1)
  })

  it('check a channel that nobody answers for, and fail', async () => {
    const folder = newFolder({ 'catalog.yaml': catalogue('http://127.0.0.1:9') })
    await json(folder, 'apply -f catalog.yaml')
    const checked = await run(folder, ['channel', 'check', 'alpha-main', '--json'])
    assert.equal(checked.code, 1)
    assert.equal((JSON.parse(checked.out) as { ok: boolean }).ok, false)
    const doctor = await run(folder, ['doctor'])
    assert.equal(doctor.code, 1)
    assert.match(doctor.out, /nobody answers at http:\/\/127\.0\.0\.1:9/)
  })

  it('report the mistakes of a catalogue with their lines, and apply nothing', async () => {
    const folder = newFolder({
      'catalog.yaml': 'vendors:\n  alpha: { format: letters }\nmodles: {}\n',
    })
    const { exit, message } = await failure(folder, 'apply -f catalog.yaml')
    assert.equal(exit, 1)
    assert.match(message, /line 2.*format/)
    assert.match(message, /line 3.*modles/)
    const missing = await failure(folder, 'apply -f none.yaml')
    assert.equal(missing.exit, 2)
    assert.match(missing.message, /cannot be read/)
  })
})

describe('the program', () => {
  it('ends with 2 for words it does not know, in text and as JSON', async () => {
    const folder = newFolder()
    const wrongLines = [
      'account',
      'account create',
      'account create a b',
      'account credit acme 5',
      'account list --frobnicate',
      'price import file',
      'sandbox --listen nowhere',
    ]
    await Promise.all(
      wrongLines.map(async (line) => {
        const { exit, code } = await failure(folder, line)
        assert.deepEqual([exit, code], [2, 'usage'], line)
      }),
    )
    const text = await run(folder, ['acount', 'list'])
    assert.deepEqual([text.code, text.out], [2, ''])
    assert.match(text.error, /unknown command 'acount'\n\(Did you mean account\?\)/)
  })

  it('ends with 0 for help and version, with 1 for what does not exist', async () => {
    const folder = newFolder()
    const help = await run(folder, ['--help'])
    assert.equal(help.code, 0)
    for (const word of ['serve', 'migrate', 'apply', 'export', 'account', 'key', 'token']) {
      assert.match(help.out, new RegExp(`^  ${word} `, 'm'))
    }
    assert.match((await run(folder, ['--version'])).out, /^\d+\.\d+\.\d+\n$/)
    const missing = await failure(folder, 'account show nobody')
    assert.deepEqual([missing.exit, missing.code], [1, 'operations.not_found'])
  })

  it('gives one document also for what runs on, and keeps the log out of it', async () => {
    const folder = newFolder()
    const environment = { TURNPIKE_LISTEN: '127.0.0.1:0', TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0' }
    const served = await runOn(folder, ['serve', '--json'], environment)
    assert.deepEqual(Object.keys(served), ['address', 'admin_address', 'admin_token'])
    assert.match(String(served['address']), /^127\.0\.0\.1:[1-9]\d*$/)
    assert.match(String(served['admin_token']), /^ad_\w{49}$/)
    assert.equal((await runOn(folder, ['serve', '--json'], environment))['admin_token'], null)
    const { url } = await runOn(folder, ['sandbox', '--listen', '127.0.0.1:0', '--json'])
    assert.match(String(url), /^http:\/\/127\.0\.0\.1:\d+$/)
  })

  it('ends at once where the gateway cannot start, and says why', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const environment = {
      TURNPIKE_LISTEN: '127.0.0.1:0',
      TURNPIKE_ADMIN_LISTEN: `127.0.0.1:${port}`,
    }
    const { exit, message } = await failure(newFolder(), 'serve', environment)
    assert.equal(exit, 1)
    assert.match(message, new RegExp(`A port is taken \\(.*${port}\\)`))
    taken.close()
  })

  it('ends with 2 for settings it cannot use, and names them all', async () => {
    const folder = newFolder({ 'other.yaml': 'lissten: x\n' })
    const environment = { TURNPIKE_CHECK_INTERVAL: 'often' }
    const line = 'account list --config other.yaml'
    const wrong = await failure(folder, line, environment)
    assert.deepEqual([wrong.exit, wrong.code], [2, 'settings'])
    assert.match(wrong.message, /did you mean listen\?/)
    assert.match(wrong.message, /TURNPIKE_CHECK_INTERVAL must be a duration/)
    assert.equal((await run(folder, line.split(' '), environment)).code, 2)
  })

  it('migrates an empty store, says when there is nothing to do, and refuses a newer one', async () => {
    const folder = newFolder({ 'turnpike.yaml': 'store: sqlite:./here.db\n' })
    const migrated = await json(folder, 'migrate')
    assert.ok((migrated['applied'] as unknown[]).length > 0)
    assert.deepEqual((await json(folder, 'migrate'))['applied'], [])
    const store = new DatabaseSync(join(folder, 'here.db'))
    store.exec('UPDATE schemaversion SET version = 900 WHERE version = 1')
    store.close()
    const refused = await failure(folder, 'account list')
    assert.deepEqual([refused.exit, refused.code], [1, 'operations.conflict'])
    assert.match(refused.message, /newer Turnpike/)
  })

  it('fails an audit of books that do not agree', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme --balance 5')
    assert.equal((await json(folder, 'audit'))['clean'], true)
    const store = new DatabaseSync(join(folder, 'data', 'turnpike.db'))
    store.exec('UPDATE account SET balance_picos = balance_picos + 1')
    store.close()
    const audit = await run(folder, ['audit', '--json'])
    assert.equal(audit.code, 1)
    assert.equal((JSON.parse(audit.out) as { clean: boolean }).clean, false)
    assert.match((await run(folder, ['audit'])).out, /1 differences/)
  })

  it('shows people text without control characters', async () => {
    const folder = newFolder()
    const store = await json(folder, 'account create acme')
    const database = new DatabaseSync(join(folder, 'data', 'turnpike.db'))
    database
      .prepare('UPDATE account SET name = ? WHERE id = ?')
      .run('a\u001b[2Jb', String(store['id']))
    database.close()
    const { out } = await run(folder, ['account', 'list'])
    assert.match(out, /a�\[2Jb/)
    assert.match(out, /^name +id +status/)
  })
})

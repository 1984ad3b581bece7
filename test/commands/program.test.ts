/**
 * The program around its commands: words, settings and stores it cannot use, how it ends, and what
 * `--json` means for what runs on.
 */
import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gather } from '../support/gather.ts'
import { failure, json, newFolder, run, runOn } from '../support/command-line.ts'

describe('the program', () => {
  it('ends with 2 for unknown words, in text and as JSON', async () => {
    const folder = newFolder()
    const wrongLines = [
      'account',
      'account create',
      'account create a b',
      'account credit acme 5',
      'account list --frobnicate',
      'price import file',
      'sandbox --listen nowhere',
      'key create acme --models a --models b',
      'account create acme --balance 1 --balance 2',
      'account limits acme --rpm 1 --rpm 2',
      'apply -f a --file b',
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

  it('refuses a repeated option, except those whose values add up', async () => {
    const folder = newFolder()
    const twice = await failure(folder, 'account create acme --rpm 10 --rpm 20')
    assert.match(twice.message, /option '--rpm <rpm>' is given twice/)
    await json(folder, 'account create acme')
    const key = await json(folder, 'key create acme --ip 192.0.2.1 --ip 192.0.2.2')
    assert.deepEqual(key['ip'], ['192.0.2.1', '192.0.2.2'])
  })

  it('ends with 0 for help and version, with 1 for what does not exist', async () => {
    const folder = newFolder()
    const help = await run(folder, ['--help'])
    assert.equal(help.code, 0)
    for (const word of ['serve', 'migrate', 'apply', 'export', 'account', 'key', 'token']) {
      assert.match(help.out, new RegExp(`^  ${word} `, 'm'))
    }
    const version = await run(folder, ['--version'])
    assert.match(version.out, /^turnpike \d+\.\d+\.\d+( \([0-9a-f]{7,}, \d{4}-\d\d-\d\d\))?\n$/)
    assert.equal(version.code, 0)
    const { version: number } = await json(folder, '--version')
    assert.equal(version.out.split(/[ \n]/)[1], number)
    const missing = await failure(folder, 'account show nobody')
    assert.deepEqual([missing.exit, missing.code], [1, 'operations.not_found'])
  })

  it('prints one JSON document for serve and sandbox, and keeps the log out of it', async () => {
    const folder = newFolder()
    const environment = { TURNPIKE_LISTEN: '127.0.0.1:0', TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0' }
    const served = await runOn(folder, ['serve', '--json'], environment)
    const keys = ['address', 'admin_address', 'admin_token', 'admin_token_file']
    assert.deepEqual(Object.keys(served), keys)
    assert.match(String(served['address']), /^127\.0\.0\.1:[1-9]\d*$/)
    assert.equal((await runOn(folder, ['serve', '--json'], environment))['admin_token_file'], null)
    const { url } = await runOn(folder, ['sandbox', '--listen', '127.0.0.1:0', '--json'])
    assert.match(String(url), /^http:\/\/127\.0\.0\.1:\d+$/)
  })

  it('writes the first admin token to a file of its own, and nowhere else', async () => {
    const folder = newFolder()
    const environment = { TURNPIKE_LISTEN: '127.0.0.1:0', TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0' }
    const served = await runOn(folder, ['serve', '--json'], environment)
    const path = String(served['admin_token_file'])
    assert.equal(path, join(realpathSync(folder), 'data', 'turnpike.db.admin-token'))
    assert.equal(served['admin_token'], null)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    const secret = readFileSync(path, 'utf8').trimEnd()
    assert.match(secret, /^ad_\w{49}$/)
    const tokens = await json(folder, 'admin-token list')
    assert.equal(JSON.stringify(tokens).includes(secret), false)
    assert.match(JSON.stringify(tokens), new RegExp(`"head":"${secret.slice(0, 7)}`))
    assert.deepEqual(
      readdirSync(join(folder, 'data')).filter((name) => name.includes('draft')),
      [],
    )
  })

  it('shows the first admin token on a terminal, and writes no file', async () => {
    const folder = newFolder()
    const serve = `exec '${process.execPath}' '${join(import.meta.dirname, '../../src/cli.ts')}' serve`
    const terminal = spawn('script', ['--quiet', '--flush', '--command', serve, '/dev/null'], {
      cwd: folder,
      env: {
        ...process.env,
        TURNPIKE_LISTEN: '127.0.0.1:0',
        TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const closed = once(terminal, 'close')
    await gather(terminal.stdout).until(/Admin token \(shown only once\): ad_\w{49}\r?\n/)
    const files = readdirSync(join(folder, 'data'))
    assert.deepEqual(
      files.filter((name) => name.includes('token')),
      [],
    )
    terminal.kill('SIGTERM')
    await closed
  })

  it('ends at once with the reason when the gateway cannot start', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const environment = {
      TURNPIKE_LISTEN: '127.0.0.1:0',
      TURNPIKE_ADMIN_LISTEN: `127.0.0.1:${port}`,
    }
    const folder = newFolder()
    const { exit, message } = await failure(folder, 'serve', environment)
    assert.equal(exit, 1)
    assert.match(
      message,
      new RegExp(`^Port ${port} is already in use\\. Set TURNPIKE_ADMIN_LISTEN`),
    )
    taken.close()
    // A token that is not shown would be lost.
    const served = await runOn(folder, ['serve', '--json'], {
      ...environment,
      TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
    })
    assert.match(readFileSync(String(served['admin_token_file']), 'utf8'), /^ad_/)
  })

  it('explains errors of the operating system in a sentence, without a stack', async (test) => {
    const folder = newFolder({ 'letter.txt': 'Dear reader' })
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    test.after(() => taken.close())
    const { port } = taken.address() as AddressInfo
    const environment = { TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0' }
    const listening = (listen: string) => ({ ...environment, TURNPIKE_LISTEN: listen })
    const made = { TURNPIKE_STORE: 'sqlite:made.db' }
    assert.equal((await run(folder, ['migrate'], made)).code, 0)
    const cases = [
      ['restore nosuch.db', {}, 2, /nosuch\.db does not exist\.$/],
      ['restore .', {}, 2, /is a folder, and a file is needed\.$/],
      ['restore letter.txt/store.db', {}, 2, /leads through a file that is not a folder\.$/],
      ['backup letter.txt/store.db', made, 1, /letter\.txt exists already\.$/],
      ['backup /proc/store.db', made, 2, /^\/proc\/.* does not exist\.$/],
      ['serve', listening('192.0.2.1:0'), 2, /^192\.0\.2\.1 is not an address of this machine\.$/],
      ['serve', listening('nosuch.invalid:80'), 2, /^nosuch\.invalid is an unknown host\.$/],
      [`sandbox --listen 127.0.0.1:${port}`, {}, 1, /^127\.0\.0\.1:\d+ is already in use\./],
    ] as const
    for (const [line, variables, exit, sentence] of cases) {
      const told = await failure(folder, line, variables)
      assert.match(told.message, sentence)
      assert.equal(told.exit, exit, line)
    }
  })

  it('ends with 2 for invalid settings, and names them all', async () => {
    const folder = newFolder({ 'other.yaml': 'lissten: x\n' })
    const environment = { TURNPIKE_CHECK_INTERVAL: 'often' }
    const line = 'account list --config other.yaml'
    const wrong = await failure(folder, line, environment)
    assert.deepEqual([wrong.exit, wrong.code], [2, 'settings'])
    assert.match(wrong.message, /did you mean listen\?/)
    assert.match(wrong.message, /TURNPIKE_CHECK_INTERVAL must be a duration/)
    assert.equal((await run(folder, line.split(' '), environment)).code, 2)
  })

  it('migrates an empty store once, and refuses a newer one', async () => {
    const folder = newFolder({ 'turnpike.yaml': 'store: sqlite:./here.db\n' })
    const migrated = await json(folder, 'migrate')
    assert.ok((migrated['applied'] as unknown[]).length > 0)
    assert.deepEqual((await json(folder, 'migrate'))['applied'], [])
    const store = new DatabaseSync(join(folder, 'here.db'))
    store.exec(
      "INSERT INTO schemaversion (version, name, md5, run_at) VALUES (900, 'later', '', '')",
    )
    store.close()
    const refused = await failure(folder, 'account list')
    assert.deepEqual([refused.exit, refused.code], [1, 'operations.conflict'])
    assert.match(refused.message, /newer Turnpike/)
  })

  it('fails when the ledger audit fails', async () => {
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

  it('prints text without control characters', async () => {
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

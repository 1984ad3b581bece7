/**
 * The commands as scripts use them: child processes on stores of their own. Each is run with
 * `--json`, and must leave exactly one JSON document on stdout; an error also on stderr, for people.
 */
import { after, before, describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { parseSecret } from '../../src/access/key.ts'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'
import { failure, json, newFolder, run, runAtTerminal } from '../support/command-line.ts'
import { smallCatalogue } from '../support/catalogues.ts'

describe('account commands', () => {
  it('create, show, limit, suspend, resume and list accounts', async () => {
    const folder = newFolder()
    const made = await json(
      folder,
      'account create acme --balance 10 --daily 2.5 --rpm 60 --window 5',
    )
    assert.match(String(made['id']), /^acc_/)
    assert.equal(made['name'], 'acme')
    assert.equal(made['balance_usd'], 10)
    assert.partialDeepStrictEqual(await json(folder, 'account show acme'), made)
    const limited = await json(folder, 'account limits acme --rpm 0')
    assert.deepEqual(limited['limits'], {
      credit_line_usd: 0,
      holds: null,
      monthly_usd: 0,
      daily_usd: 2.5,
      rpm: 0,
      tpm: 0,
      window_minutes: 5,
      price_multiplier: 1,
    })
    assert.equal((await json(folder, 'account suspend acme'))['status'], 'suspended')
    assert.equal((await json(folder, 'account resume acme'))['status'], 'active')
    assert.partialDeepStrictEqual(await json(folder, 'account list'), [limited])
    const [newest] = (await json(folder, 'actions')) as unknown as Record<string, unknown>[]
    assert.equal(newest?.['action'], 'account.resume')
    assert.equal(newest?.['actor'], `cli:${userInfo().username}`)
  })

  it('are edited, closed, reopened, and found by what was noted down', async () => {
    const folder = newFolder()
    const made = await json(folder, 'account create acme --external-id crm-7')
    const line = 'account edit acme --name north --contact a@b.example --alert-below 5.25 --note'
    const edited = await json(folder, line, 'pays late')
    assert.deepEqual(edited, {
      ...made,
      name: 'north',
      note: 'pays late',
      contact: 'a@b.example',
      alert_below_usd: 5.25,
    })
    assert.partialDeepStrictEqual(
      await json(folder, 'account list --external-id crm-7 --name ort'),
      [edited],
    )
    assert.equal((await json(folder, 'account close north'))['status'], 'closed')
    assert.deepEqual(await json(folder, 'account list --status active'), [])
    assert.equal((await json(folder, 'account reopen north'))['status'], 'active')
    const kept = await json(folder, 'account edit north --external-id', '')
    assert.deepEqual([kept['note'], kept['external_id']], ['pays late', null])
  })

  it('book an unusually large credit only with --yes, or with a yes at a terminal', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme --balance 1')
    const line = 'account credit acme 100.01 --reference bank-3'
    const asked = await failure(folder, line)
    assert.deepEqual([asked.exit, asked.code], [2, 'usage'])
    assert.match(asked.message, /more than 100 times .* so far, 1 USD.*Add --yes to agree/)
    assert.match(await runAtTerminal(folder, line, 'n'), /Do it\? \[y\/N\][^]*Nothing was changed/)
    assert.match(await runAtTerminal(folder, line, 'y'), /^amount_usd +100\.01\s*$/m)
    assert.equal((await json(folder, `${line} --yes`))['repeated'], true)
    assert.equal((await json(folder, 'account show acme'))['balance_usd'], 101.01)
  })

  it('book one credit per reference when several processes try at once', async () => {
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

  it('take money back only with --yes, or with a yes at a terminal', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme --balance 10')
    const line = 'account credit acme -4 --reference bank-2'
    const sentence = 'This takes 4 USD from the account acme. Add --yes to agree.'
    const plain = await run(folder, line.split(' '))
    assert.deepEqual(plain, { code: 2, out: '', error: `turnpike: ${sentence}\n` })
    assert.deepEqual(await failure(folder, line), { exit: 2, code: 'usage', message: sentence })

    assert.match(await runAtTerminal(folder, line, 'n'), /Do it\? \[y\/N\][^]*Nothing was changed/)
    assert.match(await runAtTerminal(folder, line, ''), /Nothing was changed/)
    assert.equal((await json(folder, 'account show acme'))['balance_usd'], 10)
    assert.match(await runAtTerminal(folder, line, 'y'), /^amount_usd +-4\s*$/m)
    assert.equal((await json(folder, `${line} --yes`))['repeated'], true)
    assert.equal((await json(folder, 'account show acme'))['balance_usd'], 6)
  })

  it('create one store when several processes start at once, and lose nothing', async () => {
    const folder = newFolder()
    const names = ['a', 'b', 'c', 'd']
    await Promise.all(names.map((name) => json(folder, `account create ${name}`)))
    const accounts = (await json(folder, 'account list')) as unknown as { name: string }[]
    assert.deepEqual(
      accounts.map((account) => account.name),
      names,
    )
  })

  it('show a statement and usage, and write CSV without formulas', async () => {
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
  it('create each kind, show its secret once, list and revoke it', async () => {
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
      assert.equal(revoked['state'], 'revoked')
    }
  })

  it('list admin tokens with their roles', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme')
    await json(folder, 'admin-token create --name board --role viewer')
    const { out } = await run(folder, ['admin-token', 'list'])
    assert.match(out, / name +role +state [^]* board +viewer +active /)
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
    const id = String(made['id'])
    const edited = await json(folder, `key edit ${id} --monthly 7.5 --total 90 --rpm 30 --tpm 9000`)
    assert.deepEqual(
      [
        edited['daily_usd'],
        edited['monthly_usd'],
        edited['total_usd'],
        edited['rpm'],
        edited['tpm'],
      ],
      [0.5, 7.5, 90, 30, 9_000],
    )
    assert.deepEqual(edited['ip'], made['ip'])
    const freed = await json(
      folder,
      `key edit ${id} --ip all --models all --expires never --daily 0`,
    )
    assert.deepEqual(
      [freed['ip'], freed['models'], freed['expires_at'], freed['daily_usd'], freed['total_usd']],
      [null, null, null, 0, 90],
    )
    const { out } = await run(folder, ['key', 'list', 'acme'])
    assert.match(out, /day USD .*month USD .*total USD .*rpm .*tpm/)
    assert.match(out, /0 of 7\.5 .*0 of 90 .*30 .*9000/)
    const nothing = await failure(folder, `key edit ${id}`)
    assert.match(nothing.message, /Give at least one thing to change/)
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

  it('apply, export, list, disable, enable and check without showing secrets', async () => {
    const folder = newFolder({ 'catalog.yaml': smallCatalogue(sandbox.url) })
    const apply = 'apply -f catalog.yaml'
    assert.equal((await json(folder, `${apply} --dry-run`))['kind'], 'would_apply')
    assert.equal((await json(folder, apply))['kind'], 'applied')
    assert.equal((await json(folder, apply))['kind'], 'unchanged')
    assert.equal(statSync(join(folder, 'data', 'master.key')).mode & 0o777, 0o600)

    const { out } = await run(folder, ['export'])
    writeFileSync(join(folder, 'exported.yaml'), out)
    assert.equal((await json(folder, 'apply -f exported.yaml'))['kind'], 'unchanged')
    assert.deepEqual(Object.keys(await json(folder, 'export')), [
      'revision',
      'vendors',
      'models',
      'channels',
    ])

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

  it('fail the check of a channel that does not answer', async () => {
    const folder = newFolder({ 'catalog.yaml': smallCatalogue('http://127.0.0.1:9') })
    await json(folder, 'apply -f catalog.yaml')
    const checked = await run(folder, ['channel', 'check', 'alpha-main', '--json'])
    assert.equal(checked.code, 1)
    assert.equal((JSON.parse(checked.out) as { ok: boolean }).ok, false)
    const doctor = await run(folder, ['doctor'])
    assert.equal(doctor.code, 1)
    assert.match(doctor.out, /no answer from http:\/\/127\.0\.0\.1:9/)
  })

  it('report mistakes in a catalogue with their lines, and apply nothing', async () => {
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

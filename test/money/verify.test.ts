/**
 * A statement of sealed books is checked twice: by `turnpike verify`, and by the page of Python that shares
 * no code with the gateway. Both accept it as it is and after each kind of edit find the same problems.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { dayMs } from '../../src/base/clock.ts'
import { removeOldExchanges } from '../../src/ledger/exchange-retention.ts'
import { makeSigningKey } from '../../src/ledger/proof/signing-keys.ts'
import type {
  StatementEnd,
  StatementHead,
  StatementLine,
} from '../../src/operations/reports/statement-form.ts'
import { openEmbedded, type EmbeddedHarness } from '../storage/embedded-harness.ts'
import { addCredit, makeAccount } from '../storage/ledger-harness.ts'
import { runCommand } from '../support/command-hosts.ts'
import {
  bills,
  booksMasterKey,
  chargeBills,
  sealNextHour,
  statementOf,
} from '../support/sealed-books.ts'

/** As JSON, whose members a test may change. */
type Statement = {
  -readonly [Name in keyof Whole]: Whole[Name]
}
type Whole = StatementHead & StatementEnd & { readonly entries: readonly StatementLine[] }

const script = join(import.meta.dirname, '../../examples/verify/verify.py')
const hasPython = spawnSync('python3', ['--version']).status === 0
const withoutPython = 'This machine has no python3, so examples/verify was not run.'

let folder: string
let harness: EmbeddedHarness
let accountId: string
let texts: Readonly<Record<'older' | 'newer' | 'part' | 'withoutBills', string>>

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-verify-'))
  harness = await openEmbedded()
  accountId = await makeAccount(harness, { balancePicos: 10_000_000_000_000n })
  await chargeBills(harness, accountId)
  // Booked after its hour was sealed: in the order of time, and not in the order of the chain.
  await chargeBills(harness, accountId, () => sealNextHour(harness))
  await sealNextHour(harness)
  const older = await statementOf(harness, accountId)
  await harness.database.transact((transaction) =>
    makeSigningKey(transaction, { masterKey: booksMasterKey, nowMs: harness.clock.now() }),
  )
  const fromMs = harness.clock.now()
  await chargeBills(harness, accountId)
  await addCredit(harness, accountId, 12n)
  await sealNextHour(harness)
  await chargeBills(harness, accountId)
  const part = await statementOf(harness, accountId, { from: new Date(fromMs).toISOString() })
  const newer = await statementOf(harness, accountId)
  texts = { older, newer, part, withoutBills: await statementWithoutBills() }
})

after(async () => {
  await harness.close()
  rmSync(folder, { recursive: true })
})

async function statementWithoutBills(): Promise<string> {
  await sealNextHour(harness)
  harness.clock.advance(40 * dayMs)
  const order = { nowMs: harness.clock.now(), keepMs: 30 * dayMs, pause: () => Promise.resolve() }
  const { removed } = await removeOldExchanges(harness.database, order)
  assert.equal(removed, 4 * bills.length)
  return statementOf(harness, accountId)
}

interface Checked {
  readonly code: number
  readonly problems: readonly string[]
}

let fileCount = 0
function fileOf(text: string): string {
  const file = join(folder, `statement-${fileCount++}.json`)
  writeFileSync(file, text)
  return file
}

async function byProgram(...words: readonly string[]): Promise<Checked> {
  const { code, out } = await runCommand(['verify', ...words, '--json'], { cwd: folder, env: {} })
  const { problems } = JSON.parse(out) as { problems: string[] }
  return { code, problems }
}

function byPython(...words: readonly string[]): Promise<Checked> {
  return new Promise((resolve) => {
    execFile('python3', [script, ...words], (failure, out) => {
      const code = failure === null ? 0 : Number(failure.code)
      resolve({ code, problems: out.trim().split('\n').slice(0, -1) })
    })
  })
}

const checks = [
  ['turnpike verify', byProgram, false],
  ['examples/verify', byPython, hasPython ? false : withoutPython],
] as const

const edits: readonly [title: string, edit: (statement: Statement) => object, found: RegExp][] = [
  ['the amount of a charge', (whole) => changeLine(whole, 2, { amount: '-0.5' }), /is not the sum/],
  [
    'the time of a line',
    (whole) => changeLine(whole, 2, { at: '2026-11-21T12:00:00.001Z' }),
    /does not follow/,
  ],
  [
    'the reference of a line',
    (whole) => changeLine(whole, 2, { reference: 'ex_ü"\u2028' }),
    /does not follow/,
  ],
  [
    'a bill',
    (whole) => changeLine(whole, 2, { proof: changedBill(whole, 2) }),
    /the bill is not the one/,
  ],
  [
    'a line that was taken out',
    (whole) => ({ entries: whole.entries.filter((_, index) => index !== 2) }),
    /./,
  ],
  [
    'a line that says it is not sealed',
    (whole) => changeLine(whole, 2, { proof: null }),
    /line is missing|not the end|does not follow/,
  ],
  [
    'all lines that say they are not sealed',
    (whole) => ({ entries: whole.entries.map((one) => ({ ...one, proof: null })) }),
    /is not sealed/,
  ],
  ['a head with another sum', (whole) => changeHead(whole, { sum: '1' }), /not signed by a key/],
  [
    'a head with another signature',
    (whole) => changeHead(whole, { signature: '0'.repeat(128) }),
    /not signed by a key/,
  ],
  [
    'heads that were left out',
    (whole) => ({ proof: whole.proof && { ...whole.proof, heads: [] } }),
    /no signed head/,
  ],
  [
    'a new key that nothing signed',
    (whole) => ({
      proof: whole.proof && {
        ...whole.proof,
        keys: whole.proof.keys.map((key) => ({ ...key, signature: null })),
      },
    }),
    /not signed by a key/,
  ],
  ['the closing balance', () => ({ closing_balance: '7' }), /closing balance/],
  ['the account', () => ({ account_id: 'acc_1' }), /not signed by a key/],
]

function changeLine(whole: Statement, index: number, changes: object): object {
  return { entries: whole.entries.map((one, at) => (at === index ? { ...one, ...changes } : one)) }
}

function changedBill({ entries }: Statement, index: number): object {
  const { proof } = entries[index] ?? {}
  return { ...proof, bill: proof?.bill?.replace(/"(\d+)"/, '"9$1"') }
}

function changeHead({ proof }: Statement, changes: object): object {
  const [first, ...others] = proof?.heads ?? []
  return { proof: { ...proof, heads: [{ ...first, ...changes }, ...others] } }
}

for (const [name, check, skip] of checks)
  describe(`${name} checks a statement`, { skip }, () => {
    it('accepts what the gateway wrote, for all time and for a part of it', async () => {
      for (const text of [texts.older, texts.newer, texts.part])
        assert.deepEqual(await check(fileOf(text)), { code: 0, problems: [] })
    })

    it('accepts a statement whose bills are no longer kept, and that it continues one with them', async () => {
      const { entries } = JSON.parse(texts.withoutBills) as Statement
      assert.ok(entries.every(({ proof }) => proof !== null && proof.bill === null))
      const found = await check(fileOf(texts.withoutBills), '--older', fileOf(texts.newer))
      assert.deepEqual(found, { code: 0, problems: [] })
    })

    for (const [title, edit, found] of edits)
      it(`finds an edit: ${title}`, async () => {
        const whole = JSON.parse(texts.newer) as Statement
        const { code, problems } = await check(fileOf(JSON.stringify({ ...whole, ...edit(whole) })))
        assert.equal(code, 1)
        assert.match(problems.join('\n'), found)
      })

    it('accepts a newer statement that continues an older one, also of another period', async () => {
      const older = fileOf(texts.older)
      for (const text of [texts.newer, texts.part])
        assert.deepEqual(await check(fileOf(text), '--older', older), { code: 0, problems: [] })
    })

    it('refuses a newer statement that does not have the books of the older one', async () => {
      const whole = JSON.parse(texts.older) as Statement
      const other = { ...whole, ...changeHead(whole, { hash: 'f'.repeat(64) }) }
      const { code, problems } = await check(
        fileOf(texts.newer),
        '--older',
        fileOf(JSON.stringify(other)),
      )
      assert.equal(code, 1)
      assert.match(problems.join('\n'), /that you kept is not in the newer books/)
    })

    it('believes the key that it was given, and those that follow from it', async () => {
      const { proof } = JSON.parse(texts.newer) as Statement
      const [first, second] = proof?.keys ?? []
      const newer = fileOf(texts.newer)
      assert.equal((await check(newer, '--key', first?.id ?? '')).code, 0)
      assert.equal((await check(newer, '--key', first?.public_key ?? '')).code, 0)
      assert.equal((await check(newer, '--key', second?.id ?? '')).code, 1)
      assert.equal((await check(newer, '--key', 'another')).code, 1)
    })
  })

it('has the bills that docs/verify.md describes', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/verify.md'), 'utf8')
  const [, sample = ''] = /```json\n(.*?)```/s.exec(page) ?? []
  const { entries } = JSON.parse(texts.newer) as Statement
  const printed = entries.map(({ proof }) => JSON.stringify(JSON.parse(proof?.bill ?? 'null')))
  assert.ok(printed.includes(JSON.stringify(JSON.parse(sample))), printed.join('\n'))
})

it('refuses a file that is no statement', async () => {
  const file = fileOf('{}')
  const ran = await runCommand(['verify', file], { cwd: folder, env: {} })
  assert.equal(ran.code, 2)
  assert.match(ran.error, /is not a statement as JSON/)
})

it('has at most 150 lines of Python', () => {
  assert.ok(readFileSync(script, 'utf8').split('\n').length <= 151)
})

/**
 * Rules about the tree that no linter knows: names, file heads, where tables are used, and pages that list
 * what the program has. The first half applies each rule to the tree; the second half breaks each rule
 * once. Layers, sizes and unused code are lint rules: see oxlint.config.ts and knip.json.
 */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { priceKeys } from '../src/metering/price-form.ts'
import {
  findBadNames,
  findBarrels,
  findLooseEnds,
  findMissingHeads,
  findStrayTables,
  findUnexplainedPrices,
  tablesOf,
  type SourceFile,
  type TableOwners,
} from './support/tidy-rules.ts'

const root = join(import.meta.dirname, '..')

/** Folders with files of our own; what is installed, generated or recorded is not looked at. */
const ownFolders = [
  'src',
  'sandbox',
  'test',
  'scripts',
  'bench',
  'bin',
  'docs',
  'examples',
  'console',
]
const foreignFolders = new Set([
  'node_modules',
  '.venv',
  'target',
  'transcripts',
  'dist',
  'built',
  'clients',
  'peers',
])

function listFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return foreignFolders.has(entry.name) ? [] : listFiles(path)
    return entry.isFile() ? [path] : []
  })
}

const paths = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && ownFolders.includes(entry.name))
  .flatMap((entry) => listFiles(entry.name))

function read(path: string): SourceFile {
  return { path, text: readFileSync(join(root, path), 'utf8') }
}

const sources = paths.filter((path) => /^(src|sandbox)\/.*\.ts$/.test(path)).map(read)
const schemas = paths.filter((path) => /^src\/.*\.sql$/.test(path)).map(read)
const tests = paths.filter((path) => /^(test|bench)\/.*\.ts$/.test(path)).map(read)
const pages = paths.filter((path) => /^console\/src\/.*\.tsx?$/.test(path)).map(read)

const tableOwners: TableOwners = {
  account: ['src/ledger/', 'src/access/key-list.ts', 'src/access/key-store.ts'],
  entry: ['src/ledger/'],
  exchange: ['src/ledger/'],
  sealed_entry: ['src/ledger/'],
  sealed_head: ['src/ledger/proof/seal-store.ts'],
  signing_key: ['src/ledger/proof/signing-keys.ts'],
  seal_mark: ['src/ledger/proof/seal-store.ts'],
  exchange_default: ['src/ledger/'],
  free_exchange: ['src/ledger/'],
  hold: ['src/ledger/'],
  expired_hold: ['src/ledger/'],
  request_window: ['src/ledger/'],
  key_request_window: ['src/ledger/'],
  node: ['src/storage/node-store.ts', 'src/ledger/audit/'],
  usage_month: ['src/ledger/'],
  usage_key_month: ['src/ledger/', 'src/access/key-list.ts'],
  report_day: ['src/ledger/'],
  label_day: ['src/ledger/'],
  report_moment: ['src/ledger/'],
  token_minute: ['src/ledger/'],
  audit_checkpoint: ['src/ledger/audit/account.ts'],
  exchange_cut: ['src/ledger/exchange-retention.ts'],
  answer_state: ['src/ledger/answer-state-store.ts'],
  key: [
    'src/access/key-store.ts',
    'src/ledger/embedded/report-booking.ts',
    'src/access/key-list.ts',
  ],
  key_use: ['src/access/key-store.ts', 'src/access/key-list.ts'],
  session: ['src/access/session-store.ts'],
  sign_in_code: ['src/access/session-store.ts'],
  member: ['src/access/member-store.ts'],
  member_session: ['src/access/session-store.ts'],
  sign_in_link: ['src/access/sign-in-link-store.ts'],
  idempotency_key: ['src/operations/once.ts'],
  vendor: ['src/channels/channel-store.ts'],
  model: ['src/channels/channel-store.ts'],
  price: ['src/channels/channel-store.ts'],
  channel: ['src/channels/channel-store.ts'],
  operator_action: ['src/operations/actions.ts'],
  code: ['src/operations/codes/code-store.ts'],
  code_batch: ['src/operations/codes/code-store.ts'],
  payment: ['src/operations/payments/payment-store.ts'],
  note: ['src/operations/notes/note-store.ts'],
  reconciliation: ['src/operations/reconcile/run-store.ts'],
  ledger_audit: ['src/operations/store/audit-store.ts'],
  alert_target: ['src/operations/alerts/target-store.ts'],
  alert: ['src/operations/alerts/'],
  alert_delivery: ['src/operations/alerts/delivery-store.ts'],
  limit_step: ['src/operations/alerts/limit-step-store.ts'],
  channel_health: ['src/channels/health/health-store.ts'],
  former_credential: ['src/channels/former-credential-store.ts'],
  channel_change: ['src/channels/cluster/channel-history.ts'],
  channel_state: ['src/channels/cluster/channel-states.ts'],
  gateway_node: ['src/storage/node-store.ts'],
  unclean_stop: ['src/storage/node-store.ts'],
  node_lease: ['src/storage/node-store.ts'],
  channel_check: ['src/channels/cluster/channel-states.ts'],
  channel_check_answer: ['src/channels/cluster/check-answers.ts'],
  operator_cost: ['src/channels/cluster/operator-cost-store.ts'],
  revision: ['src/storage/changes.ts'],
  schemaversion: ['src/storage/migrate.ts'],
  stored_function: ['src/storage/migrate.ts'],
}

function assertNone(complaints: readonly string[]): void {
  assert.equal(complaints.length, 0, `\n${complaints.join('\n')}\n`)
}

describe('the tree', () => {
  test('is read as a whole', () => {
    assert.ok(sources.length >= 100, `found only ${sources.length} source files`)
    assert.ok(schemas.length >= 10, `found only ${schemas.length} files of the schema`)
    assert.ok(pages.length >= 50, `found only ${pages.length} files of the console`)
  })

  test('no file only re-exports', () => assertNone(findBarrels(sources)))

  test('names are kebab-case', () => assertNone(findBadNames(paths)))

  test('every file begins with a comment that says what it does', () =>
    assertNone(findMissingHeads([...sources, ...schemas, ...tests, ...pages])))

  test('no comment leaves work unfinished', () => assertNone(findLooseEnds([...sources, ...pages])))

  test('SQL names only tables of its own store', () => {
    const known = schemas.flatMap(({ text }) => tablesOf(text))
    assert.deepEqual(
      known.filter((table) => !Object.hasOwn(tableOwners, table)),
      [],
      'tables without an owner in this test',
    )
    assertNone(findStrayTables(sources, tableOwners))
  })

  test('CHANGELOG.md tells operators what to do for every migration', () => {
    const numbers = schemas.flatMap(({ path }) => /\/(\d{3})\.do\./.exec(path)?.[1] ?? [])
    const text = read('CHANGELOG.md').text
    assertNone(numbers.filter((number) => !new RegExp(`\\b${number}\\b`).test(text)))
  })

  test('docs/catalogue.md explains every price', () => {
    assert.ok(priceKeys.length >= 15, `found only ${priceKeys.length} keys`)
    assertNone(findUnexplainedPrices(read('docs/catalogue.md').text, priceKeys))
  })
})

/** A file of a fixture tree. */
function fixture(path: string, text: string): SourceFile {
  return { path, text }
}

describe('each rule finds its mistake:', () => {
  test('a name that is not kebab-case', () => {
    const good = [
      'src/a-b/c.test.ts',
      'docs/adr/0001-money.md',
      'src/x/001.do.initial.sql',
      '.ci/run',
    ]
    const bad = ['src/aB.ts', 'src/a_b.ts', 'src/A/b.ts', 'docs/Read Me.md']
    assertNone(findBadNames(good))
    assert.equal(findBadNames(bad).length, bad.length)
  })

  test('a file that only re-exports', () => {
    const barrel = "/** All. */\nexport * from './a.ts'\nexport { b } from './b.ts'\n"
    assert.equal(findBarrels([fixture('src/a/index.ts', barrel)]).length, 1)
    assertNone(findBarrels([fixture('src/a/index.ts', `${barrel}export const c = 1`)]))
  })

  test('a file without a head, and a loose end', () => {
    assert.equal(findMissingHeads([fixture('a.ts', "import 'x'"), fixture('b.sql', 'X')]).length, 2)
    assertNone(findMissingHeads([fixture('a.ts', '#!/bin/x\n/** A. */'), fixture('b.sql', '-- B')]))
    assert.equal(findLooseEnds([fixture('a.ts', '// TODO later\n// fine')]).length, 1)
  })

  test('a table outside its store, in every form of statement', () => {
    const owners = { price: ['src/channels/channel-store.ts'], entry: ['src/ledger/'] }
    const statements = [
      'SELECT * FROM price',
      'INSERT INTO price (a) VALUES (1)',
      'UPDATE price SET a = 1',
      'DELETE FROM price',
      'SELECT 1 FROM model JOIN price ON a = b',
    ]
    for (const sql of statements) {
      assert.equal(findStrayTables([fixture('src/a/b.ts', `query(\`${sql}\`)`)], owners).length, 1)
      assertNone(findStrayTables([fixture('src/channels/channel-store.ts', `'${sql}'`)], owners))
    }
    assertNone(findStrayTables([fixture('src/ledger/x/y.ts', "'SELECT 1 FROM entry'")], owners))
    assertNone(findStrayTables([fixture('src/a/b.ts', '// FROM price')], owners))
    assert.deepEqual(tablesOf('CREATE TABLE a (\n);\nCREATE TABLE b_c (x);'), ['a', 'b_c'])
  })

  test('a price that is not documented, or only mentioned', () => {
    const page = '| `input` | USD |\n| `long.above` | tokens |\nand `request`\n'
    assert.deepEqual(findUnexplainedPrices(page, ['input', 'above', 'request']), [
      'docs/catalogue.md does not explain the price request',
    ])
  })
})

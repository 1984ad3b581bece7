/**
 * The rules of docs/architecture.md, executable: who may import whom, where tables live, names,
 * sizes, and pages that list what the program has. The first half applies each rule to the tree;
 * the second half breaks each rule once, so that a rule which finds nothing is known to work.
 */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { errorCatalogue } from '../src/base/errors.ts'
import { priceKeys } from '../src/metering/price-book.ts'
import { settings } from '../src/settings.ts'
import { viewSource } from './support/source-text.ts'
import { findAssignedFunctions } from './support/tidy-memory.ts'
import {
  compareCodes,
  documentedCodes,
  findBadNames,
  findBarrels,
  findForbiddenWords,
  findForeignPackages,
  findGrowingFunctions,
  findLayerBreaks,
  findLooseEnds,
  findMissingHeads,
  findOrphans,
  findUndocumentedKeys,
  findUnexplainedPrices,
  findWideComments,
  functionsOf,
  importsOf,
  layers,
  type SourceFile,
} from './support/tidy-rules.ts'
import {
  findStoresInUnitTests,
  findStrayTables,
  tablesOf,
  type TableOwners,
} from './support/tidy-stores.ts'

const root = join(import.meta.dirname, '..')

/** Folders with files of our own; what is installed, generated or recorded is not looked at. */
const ownFolders = ['src', 'test', 'scripts', 'bench', 'bin', 'docs', 'examples', 'console']
const foreignFolders = new Set(['node_modules', 'transcripts', 'dist', 'clients', 'peers'])

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

const sources = paths.filter((path) => /^src\/.*\.ts$/.test(path)).map(read)
const migrations = paths.filter((path) => /^src\/.*\.sql$/.test(path)).map(read)
const tests = paths.filter((path) => /^(test|bench)\/.*\.ts$/.test(path)).map(read)

/** Started by name: by `npm start`, `bin/turnpike`, or as a program of its own. */
const entryPoints = ['src/main.ts', 'src/cli.ts', 'src/start.ts']

/** Files whose one long function is a flat list and may be of any length. */
const flatLists: ReadonlySet<string> = new Set(['src/app.ts', 'src/telemetry/metrics.ts'])

const tableOwners: TableOwners = {
  account: ['src/ledger/', 'src/access/key-store.ts'],
  entry: ['src/ledger/'],
  exchange: ['src/ledger/'],
  exchange_default: ['src/ledger/'],
  hold: ['src/ledger/'],
  expired_hold: ['src/ledger/'],
  request_window: ['src/ledger/'],
  node: ['src/ledger/'],
  store_copy: ['src/storage/store-copy.ts', 'src/operations/store-copy.ts'],
  store_copy_progress: ['src/storage/store-copy.ts'],
  usage_day: ['src/ledger/'],
  usage_month: ['src/ledger/'],
  audit_checkpoint: ['src/ledger/audit-checkpoint-store.ts'],
  exchange_cut: ['src/ledger/exchange-cut-store.ts'],
  key: ['src/access/key-store.ts'],
  vendor: ['src/channels/channel-store.ts'],
  model: ['src/channels/channel-store.ts'],
  price: ['src/channels/channel-store.ts'],
  channel: ['src/channels/channel-store.ts'],
  operator_action: ['src/operations/action-store.ts'],
  channel_health: ['src/channels/health-store.ts'],
  channel_change: ['src/channels/channel-change-store.ts'],
  channel_state: ['src/channels/channel-state-store.ts'],
  gateway_node: ['src/channels/node-store.ts'],
  node_lease: ['src/channels/node-store.ts'],
  channel_check: ['src/channels/node-store.ts'],
  operator_cost: ['src/channels/operator-cost-store.ts'],
  revision: ['src/storage/changes.ts'],
}

function assertNone(complaints: readonly string[]): void {
  assert.equal(complaints.length, 0, `\n${complaints.join('\n')}\n`)
}

describe('the tree', () => {
  test('is seen at all', () => {
    const importCount = sources.flatMap(importsOf).length
    assert.ok(sources.length >= 100, `only ${sources.length} source files were seen`)
    assert.ok(importCount >= 3 * sources.length, `only ${importCount} imports were seen`)
    const functionCount = sources.flatMap(({ text }) => functionsOf(text)).length
    assert.ok(functionCount >= 3 * sources.length, `only ${functionCount} functions were seen`)
    assert.ok(migrations.length >= 1)
  })

  test('every module imports only what stands lower', () => assertNone(findLayerBreaks(sources)))

  test('every module of the layers has files', () => {
    const missing = Object.keys(layers).filter(
      (name) => name !== 'root' && !sources.some(({ path }) => path.startsWith(`src/${name}/`)),
    )
    assert.deepEqual(missing, [])
  })

  test('the program imports only Node and its declared dependencies', () => {
    const manifest = JSON.parse(read('package.json').text) as { dependencies: object }
    assertNone(findForeignPackages(sources, Object.keys(manifest.dependencies)))
  })

  test('no file is an orphan', () => assertNone(findOrphans(sources, entryPoints)))

  test('no file only passes on others', () => assertNone(findBarrels(sources)))

  test('names are kebab-case', () => assertNone(findBadNames(paths)))

  test('every file begins with what it is responsible for', () =>
    assertNone(findMissingHeads([...sources, ...migrations, ...tests])))

  test('no loose ends in comments', () => assertNone(findLooseEnds(sources)))

  test('no comment is wider than can be read', () =>
    assertNone(findWideComments([...sources, ...tests])))

  test('one word per thing', () => assertNone(findForbiddenWords(sources)))

  test('no function creeps past the guide', () =>
    assertNone(findGrowingFunctions(sources.filter(({ path }) => !flatLists.has(path)))))

  test('no exchange is kept alive by a function assigned to a property', () =>
    assertNone(findAssignedFunctions(sources)))

  test('tables are touched in their own store', () => {
    const known = migrations.flatMap(({ text }) => tablesOf(text))
    assert.deepEqual(
      known.filter((table) => !Object.hasOwn(tableOwners, table)),
      [],
      'tables without an owner in this test',
    )
    assertNone(findStrayTables(sources, tableOwners))
  })

  test('unit tests open no store', () => assertNone(findStoresInUnitTests(sources)))

  test('docs/errors.md explains every error code with its status', () =>
    assertNone(compareCodes(documentedCodes(read('docs/errors.md').text), errorCatalogue)))

  test('docs/configuration.md explains every setting', () => {
    const keys = Object.values(settings).map(({ key }) => key)
    assertNone(findUndocumentedKeys(read('docs/configuration.md').text, keys))
  })

  test('CHANGELOG.md says of every migration what an operator has to do', () => {
    const numbers = migrations.map(({ path }) => /\/(\d{3})\.do\./.exec(path)?.[1] ?? path)
    const text = read('CHANGELOG.md').text
    assertNone(numbers.filter((number) => !new RegExp(`\\b${number}\\b`).test(text)))
  })

  test('docs/catalogue.md explains every price', () => {
    assert.ok(priceKeys.length >= 15, `only ${priceKeys.length} keys were seen`)
    assertNone(findUnexplainedPrices(read('docs/catalogue.md').text, priceKeys))
  })
})

/** A file of a fixture tree. */
function fixture(path: string, text: string): SourceFile {
  return { path, text }
}

describe('the rules find what they are for', () => {
  test('an import upwards, sideways, or out of the program, in each form', () => {
    const complaints = findLayerBreaks([
      fixture('src/base/a.ts', "import { b } from '../storage/b.ts'"),
      fixture('src/relay/a.ts', "import type {\n  B,\n} from '../api/b.ts'"),
      fixture('src/http/a.ts', "export { b } from '../ledger/b.ts'"),
      fixture('src/access/a.ts', "const b = await import('../relay/b.ts')"),
      fixture(
        'src/formats/chat/a.ts',
        "new Worker(new URL('../../channels/b.ts', import.meta.url))",
      ),
      fixture('src/storage/a.ts', "import { b } from '../../test/support/b.ts'"),
      fixture('src/ledger/a.ts', "import { b } from '../app.ts'"),
      fixture('src/novelty/a.ts', ''),
    ])
    assert.equal(complaints.length, 8)
    assert.match(complaints[0] ?? '', /base → storage.*because base is what everyone shares/)
  })

  test('but not what is allowed, in comments or in tests', () => {
    assertNone(
      findLayerBreaks([
        fixture('src/relay/a.ts', "import { b } from '../channels/b.ts'\nimport c from './c.ts'"),
        fixture('src/base/a.ts', "// import { b } from '../storage/b.ts'\nimport 'node:fs'"),
        fixture('src/base/a.test.ts', "import { b } from '../storage/b.ts'"),
        fixture('src/app.ts', "import { b } from './relay/b.ts'"),
      ]),
    )
  })

  test('a package that is not declared', () => {
    const files = [
      fixture('src/base/a.ts', "import 'undici'\nimport 'zod/v4'\nimport 'left-pad'"),
      fixture('src/base/a.test.ts', "import 'fast-check'"),
    ]
    assert.deepEqual(findForeignPackages(files, ['undici', 'zod']), [
      'src/base/a.ts imports left-pad, which is no run-time dependency',
    ])
  })

  test('an orphan, also one that only its own test imports', () => {
    const complaints = findOrphans(
      [
        fixture('src/main.ts', "import './base/used.ts'"),
        fixture('src/base/used.ts', "new URL('./worker.ts', import.meta.url)"),
        fixture('src/base/worker.ts', ''),
        fixture('src/base/lonely.ts', ''),
        fixture('src/base/lonely.test.ts', "import './lonely.ts'"),
      ],
      ['src/main.ts'],
    )
    assert.equal(complaints.length, 1)
    assert.match(complaints[0] ?? '', /^src\/base\/lonely\.ts/)
  })

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

  test('a comment that is too wide, in each form, and no other line', () => {
    const words = 'x'.repeat(120)
    const wide = [
      `// ${words}`,
      `/** ${words} */`,
      `/**\n * A.\n * ${words}\n */`,
      `const a = 1 // ${words}`,
    ]
    for (const text of wide) assert.equal(findWideComments([fixture('a.ts', text)]).length, 1, text)
    assert.deepEqual(findWideComments([fixture('a.ts', `a\n\n${wide[0]}`)]), [
      'a.ts:3 is wider than 110 characters: wrap the comment',
    ])
    const fine = [
      `// ${words.slice(0, 107)}`,
      `// ${'─'.repeat(107)}`,
      `const a = '// ${words}'`,
      `/* a */ const a = '${words}'`,
      `const a = \`\n// ${words}\``,
    ]
    for (const text of fine) assertNone(findWideComments([fixture('a.ts', text)]))
  })

  test('a function assigned to a property, in each form', () => {
    const forms = [
      'client.onGone = () => leave()',
      'this.#resolve = (value: Answer): void => {',
      'answer.watch ??= async () => undefined',
      'answer.done = function () {}',
      'answer.done =\n  (a, b) => a',
      'answer.done = value => value',
    ]
    for (const text of forms)
      assert.equal(findAssignedFunctions([fixture('src/relay/a.ts', text)]).length, 1, text)
    const fine = [
      'const done = () => leave()\nanswer.done = done',
      'answer.count = (a + b) * 2',
      'use({ onGone: () => leave() })',
      '// answer.done = () => leave()',
      'if (answer.count >= 2) use((a) => a)',
    ]
    for (const text of fine) assertNone(findAssignedFunctions([fixture('src/relay/a.ts', text)]))
    assertNone(findAssignedFunctions([fixture('src/sandbox/a.ts', 'a.seal = () => end()')]))
  })

  test('a forbidden word in an identifier, not in a string, a comment or another word', () => {
    const text =
      "const tenantId = 'tenant' // tenant\nconst providers_count = /tenant/\nlet quotation"
    assert.deepEqual(findForbiddenWords([fixture('a.ts', text)]), [
      'a.ts:1 tenantId: the word here is account, not tenant',
      'a.ts:2 providers_count: the word here is vendor, not providers',
    ])
  })

  test('a function that creeps past the guide, in each form, and no other block', () => {
    const body = (lines: number): string => '  x()\n'.repeat(lines)
    const long = [
      `function a(b: { c: string }): Promise<Map<string, number>> {\n${body(70)}}`,
      `const a = async (b) => {\n${body(72)}}`,
      `class A {\n  b(c = d()): void {\n${body(73)}}\n}`,
    ]
    for (const text of long)
      assert.equal(findGrowingFunctions([fixture('a.ts', text)]).length, 1, text)
    const fine = [
      `function a() {\n${body(68)}}`,
      `function table() {\n${body(120)}}`,
      `if (a(b)) {\n${body(72)}}`,
      `for (const a of b()) {\n${body(72)}}`,
      `export const a = {\n${body(72)}}`,
      `class A extends B {\n${body(72)}}`,
      `interface A {\n${body(72)}}`,
    ]
    for (const text of fine) assertNone(findGrowingFunctions([fixture('a.ts', text)]))
  })

  test("a table touched outside its store, in a statement's every form", () => {
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

  test('a unit test that opens a store, itself or by a harness', () => {
    const opening = [
      fixture('src/a/b.test.ts', "import { openSqlite } from '../storage/sqlite.ts'"),
      fixture('src/a/c.test.ts', "import { openEmbedded } from '../../test/storage/harness.ts'"),
      fixture('src/a/d.test.ts', "import { openNewStore } from '../../test/support/test-store.ts'"),
    ]
    assert.equal(findStoresInUnitTests(opening).length, opening.length)
    assertNone(
      findStoresInUnitTests([
        fixture('src/a/b.ts', "import { openSqlite } from '../storage/sqlite.ts'"),
        fixture('src/a/b.test.ts', "import { seal } from '../storage/seal.ts'"),
      ]),
    )
  })

  test('an error code that is missing, invented or has another status', () => {
    const page =
      '| `a.known` | 400 | text |\n| `a.other` | 500 | text |\n| `a.invented` | 404 | |\n'
    const catalogue = {
      'a.known': { status: 400 },
      'a.other': { status: 501 },
      'a.new': { status: 1 },
    }
    assert.equal(compareCodes(documentedCodes(page), catalogue).length, 3)
  })

  test('a setting that is not documented', () => {
    const page = '`listen` and TURNPIKE_STORE'
    assert.equal(findUndocumentedKeys(page, ['listen', 'store', 'region']).length, 1)
  })

  test('a price that is not documented, or only mentioned', () => {
    const page = '| `input` | USD |\n| `long.above` | tokens |\nand `request`\n'
    assert.deepEqual(findUnexplainedPrices(page, ['input', 'above', 'request']), [
      'docs/catalogue.md does not explain the price request',
    ])
  })

  test('comments, strings, templates and regular expressions are told from code', () => {
    const text =
      "a('// no') // yes\nb(`x ${c(`{'${d}'`)} } /* no */`)\nconst e = /['\"`/{]+[/]/g.test(f) / 2 /* z */\ng"
    const { withoutComments, codeOnly } = viewSource(text)
    assert.equal(codeOnly.length, text.length)
    assert.equal(codeOnly.replaceAll(/\s+/g, ' '), 'a( ) b( c( d ) ) const e = .test(f) / 2 g')
    assert.ok(withoutComments.includes("'// no'") && withoutComments.includes('/* no */'))
    assert.ok(!withoutComments.includes('yes') && !withoutComments.includes('z'))
  })
})

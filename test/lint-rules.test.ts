/**
 * Proves that the lint rules of oxlint.config.ts find what they are for. One run of oxlint over a tree of
 * small files, each with one mistake or none; then knip over a program with one unused part of each kind.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { before, describe, test } from 'node:test'
import { z } from 'zod'
import { layers } from '../oxlint.config.ts'

const root = join(import.meta.dirname, '..')

type Files = Readonly<Record<string, string>>

/** Writes the files into a new folder, runs a tool there and returns what it printed. */
function runTool(files: Files, tool: string, words: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-lint-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, dirname(path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const command = join(root, 'node_modules', '.bin', tool)
    const result = spawnSync(process.execPath, [command, ...words], {
      cwd: folder,
      encoding: 'utf8',
    })
    assert.match(result.stdout, /^\{/, result.stderr)
    return result.stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const lintReport = z.object({
  number_of_files: z.number(),
  diagnostics: z.array(z.object({ message: z.string(), code: z.string(), filename: z.string() })),
})

function functionOf(lines: number): string {
  return `export function a(): void {\n${"  'x'.trim()\n".repeat(lines - 2)}}\n`
}

const wide = 'x'.repeat(120)

function each(rule: string, path: string, texts: readonly string[]): Record<string, Mistake> {
  return Object.fromEntries(texts.map((text, index) => [`${path}-${index}.ts`, [text, rule]]))
}

type Mistake = readonly [text: string, rule: string]

/** Path → text and the rule that finds its one mistake. */
const mistakes: Readonly<Record<string, Mistake>> = {
  'src/base/static.ts': ["import { b } from '../storage/b.ts'\nb()", 'turnpike(layers)'],
  'src/relay/type.ts': [
    "import type { B } from '../api/b.ts'\nexport type C = B",
    'turnpike(layers)',
  ],
  'src/http/wire/export.ts': ["export { b } from '../../ledger/b.ts'", 'turnpike(layers)'],
  'src/http/wire/star.ts': ["export * from '../../ledger/b.ts'", 'turnpike(layers)'],
  'src/access/dynamic.ts': ["await import('../relay/b.ts')", 'turnpike(layers)'],
  'src/access/type-import.ts': ["export type B = import('../relay/b.ts').B", 'turnpike(layers)'],
  'src/formats/chat/worker.ts': [
    "export const b = new Worker(new URL('../../channels/b.ts', import.meta.url))",
    'turnpike(layers)',
  ],
  'src/storage/test.ts': ["import { b } from '../../test/support/b.ts'\nb()", 'turnpike(layers)'],
  'src/ledger/root.ts': ["import { b } from '../app.ts'\nb()", 'turnpike(layers)'],
  'src/novelty/room.ts': ['export const a = 1', 'turnpike(layers)'],
  'sandbox/relay.ts': ["import { b } from '../src/relay/b.ts'\nb()", 'turnpike(layers)'],
  'src/base/long.ts': [functionOf(71), 'eslint(max-lines-per-function)'],
  'src/access/tenant.ts': ['export const tenantId = 1', 'turnpike(vocabulary)'],
  'src/access/providers.ts': ['export interface A { providers_count: 1 }', 'turnpike(vocabulary)'],
  ...each('turnpike(no-assigned-function)', 'src/relay/assigned', [
    'client.onGone = () => leave()',
    'class A {\n  #b: unknown\n  c(): void {\n    this.#b = (value: A): void => {}\n  }\n}',
    'answer.watch ??= async () => undefined',
    'answer.done = function () {}',
    'answer.done =\n  (a, b) => a',
    'answer.done = value => value',
  ]),
  ...each('turnpike(comment-width)', 'src/base/comment', [
    `// ${wide}`,
    `/** ${wide} */`,
    `/**\n * A.\n * ${wide}\n */`,
    `const a = 1 // ${wide}`,
  ]),
  'src/access/cycle-a.ts': [
    "import type { B } from './cycle-b.ts'\nexport type A = B[]",
    'import(no-cycle)',
  ],
  'src/access/cycle-b.ts': [
    "import type { A } from './cycle-a.ts'\nexport type B = A[]",
    'import(no-cycle)',
  ],
  'src/base/time.ts': ['export const a = Date.now()', 'eslint(no-restricted-properties)'],
  'src/ledger/timer.ts': [
    'export const a = setTimeout(String, 1)',
    'eslint(no-restricted-globals)',
  ],
  'src/storage/seal.test.ts': [
    "import { openSqlite } from './sqlite/sqlite.ts'\nopenSqlite()",
    'eslint(no-restricted-imports)',
  ],
  'src/storage/harness.test.ts': [
    "import { open } from '../../test/storage/harness.ts'\nopen()",
    'eslint(no-restricted-imports)',
  ],
  'src/storage/support.test.ts': [
    "import { open } from '../../test/support/test-store.ts'\nopen()",
    'eslint(no-restricted-imports)',
  ],
}

const correct: Files = {
  'src/relay/fine.ts': "import { b } from '../channels/b.ts'\nimport { c } from './c.ts'\nb(c)",
  'src/base/fine.ts':
    "// import { b } from '../storage/b.ts'\nimport { join } from 'node:path'\njoin()",
  'src/base/fine.test.ts': `import { b } from '../storage/seal.ts'\nb()\n${functionOf(71)}`,
  'src/fine.ts': "import { b } from './relay/b.ts'\nimport c from '../package.json'\nb(c)",
  'src/access/fine.ts': '// tenant\nexport const quotation = ["tenant", /tenant/]',
  'src/relay/assigned.ts': [
    'const done = () => leave()\nanswer.done = done',
    'answer.count = (a + b) * 2',
    'use({ onGone: () => leave() })',
    '// answer.done = () => leave()',
    'if (answer.count >= 2) use((a) => a)',
  ].join('\n'),
  'src/base/comment.ts': [
    `// ${wide.slice(0, 107)}`,
    `// ${'─'.repeat(107)}`,
    `const a = '// ${wide}'`,
    `/* a */ const b = '${wide}'`,
    `const c = \`\n// ${wide}\``,
  ].join('\n'),
  'sandbox/fine.ts': 'a.seal = () => end()',
  'src/operations/fine.ts': 'export const a = (b: A) => { b.c = () => b }',
  'src/base/short.ts': functionOf(70),
  'src/base/clock.ts': 'export const a = Date.now()',
}

const config = `export { default } from '${join(root, 'oxlint.config.ts')}'\n`

describe('each lint rule', () => {
  let report: z.infer<typeof lintReport>
  before(() => {
    const files: Record<string, string> = { ...correct, 'oxlint.config.ts': config }
    for (const [path, [text]] of Object.entries(mistakes)) files[path] = text
    report = lintReport.parse(JSON.parse(runTool(files, 'oxlint', ['--format', 'json', '.'])))
  })

  for (const [path, [, rule]] of Object.entries(mistakes))
    test(`finds the mistake in ${path}`, () => {
      const codes = report.diagnostics.filter(({ filename }) => filename === path)
      assert.ok(
        codes.some(({ code }) => code === rule),
        JSON.stringify(codes),
      )
    })

  test('finds nothing in correct files', () => {
    const rules = new Set(Object.values(mistakes).map(([, rule]) => rule))
    const found = report.diagnostics.filter(
      ({ filename, code }) => filename in correct && rules.has(code),
    )
    assert.deepEqual(found, [])
  })

  test('names the rooms and the reason', () => {
    const found = report.diagnostics.find(({ filename }) => filename === 'src/base/static.ts')
    assert.equal(
      found?.message,
      'base may not import src/storage/b.ts (storage), because every room shares base, and base depends on none.',
    )
  })

  test('reads all files', () =>
    assert.equal(
      report.number_of_files,
      Object.keys({ ...mistakes, ...correct }).length + 1,
      'files that oxlint has read',
    ))
})

test('every room of src/ is in the table of rooms, and the table has no other', () => {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
  assert.deepEqual([...folders, 'root', 'sandbox'].toSorted(), Object.keys(layers).toSorted())
})

const knipReport = z.object({
  issues: z.array(
    z.object({
      file: z.string(),
      files: z.array(z.object({ name: z.string() })),
      exports: z.array(z.object({ name: z.string() })),
      types: z.array(z.object({ name: z.string() })),
      unlisted: z.array(z.object({ name: z.string() })),
      dependencies: z.array(z.object({ name: z.string() })),
    }),
  ),
})

test('knip finds an unused file, export, type and package, and packages that running does not install', () => {
  const files = {
    'package.json': JSON.stringify({
      type: 'module',
      dependencies: { zod: '1', yaml: '1' },
      devDependencies: { acorn: '1' },
    }),
    'knip.json': JSON.stringify({ entry: ['src/main.ts!'], project: ['src/**/*.ts!'] }),
    'src/main.ts':
      "import { used } from './used.ts'\nimport 'zod'\nimport 'left-pad'\nimport 'acorn'\nnew Worker(new URL('./worker.ts', import.meta.url), used)",
    'src/used.ts': 'export const used = 1\nexport const unused = 2\nexport type Unused = 3',
    'src/worker.ts': "await import('./needed.ts')",
    'src/needed.ts': '',
    'src/lonely.ts': '',
  }
  const strict = ['--production', '--strict']
  const { issues } = knipReport.parse(
    JSON.parse(runTool(files, 'knip', [...strict, '--reporter', 'json'])),
  )
  const found = issues.flatMap(({ file, ...kinds }) =>
    Object.entries(kinds).flatMap(([kind, names]) =>
      names.map(({ name }) => `${file} ${kind} ${name}`),
    ),
  )
  assert.deepEqual(found.toSorted(), [
    'package.json dependencies yaml',
    'src/lonely.ts files src/lonely.ts',
    'src/main.ts unlisted acorn',
    'src/main.ts unlisted left-pad',
    'src/used.ts exports unused',
    'src/used.ts types Unused',
  ])
})

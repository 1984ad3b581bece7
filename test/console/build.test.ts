/**
 * The build of the console that the gateway serves: it is made from the sources as they are, and a person on
 * a slow line waits for little of it.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { brotliCompressSync, constants } from 'node:zlib'
import { z } from 'zod'

const root = join(import.meta.dirname, '..', '..')
const built = join(root, 'console', 'built')

test('console/built is what the sources give', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-console-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const building = spawn(process.execPath, ['scripts/console.mjs', '--out', folder], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = Promise.all([text(building.stdout), text(building.stderr)])
  const [code] = (await once(building, 'exit')) as [number]
  assert.equal(code, 0, (await output).join(''))
  const advice = 'build it again: npm run console'
  assert.deepEqual(filesOf(built), filesOf(folder), advice)
  for (const path of filesOf(folder)) {
    const [stored, made] = [built, folder].map((place) => readFileSync(join(place, path)))
    assert.ok(made !== undefined && stored?.equals(made), `${path} differs; ${advice}`)
  }
})

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .toSorted()
}

test('the build has few files, and a change of a page renames none', () => {
  assert.deepEqual(filesOf(built), [
    '.vite/manifest.json',
    'account.html',
    'assets/account-app.js',
    'assets/account-words-en.js',
    'assets/account-words-zh-cn.js',
    'assets/account.js',
    'assets/code-editor.js',
    'assets/common.css',
    'assets/common.js',
    'assets/console-app.js',
    'assets/console-words-en.js',
    'assets/console-words-zh-cn.js',
    'assets/console.css',
    'assets/console.js',
    'assets/forms.js',
    'assets/holder.css',
    'assets/holder.js',
    'assets/icon.svg',
    'assets/index.js',
    'assets/later.js',
    'assets/lists.css',
    'assets/lists.js',
    'assets/page-words-en.js',
    'assets/page-words-zh-cn.js',
    'assets/pages.css',
    'assets/pages.js',
    'assets/plot.css',
    'assets/plot.js',
    'assets/rolldown-runtime.js',
    'assets/said-zh-cn.js',
    'assets/sentences-zh-cn.js',
    'assets/shared.css',
    'assets/shared.js',
    'assets/views.js',
    'assets/words-en.js',
    'assets/words-zh-cn.js',
    'index.html',
    'licences.md',
  ])
})

const manifestForm = z.record(
  z.string(),
  z.object({ file: z.string(), imports: z.array(z.string()).default([]) }),
)
const manifest = manifestForm.parse(
  JSON.parse(readFileSync(join(built, '.vite', 'manifest.json'), 'utf8')),
)

/** The scripts that are loaded before a page can run that begins with these. */
function scriptsOf(...starts: readonly string[]): ReadonlySet<string> {
  const files = new Set<string>()
  const waiting = [...starts]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const chunk = manifest[name]
    assert.ok(chunk !== undefined, name)
    if (files.has(chunk.file)) continue
    files.add(chunk.file)
    waiting.push(...chunk.imports)
  }
  return files
}

/** As the gateway compresses them for a browser. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }

const firstScreens = [
  ['the console', 'index.html', 'src/console-app.tsx', 'console-words', 215_000],
  ['the account page', 'account.html', 'src/account/account-app.tsx', 'account-words', 190_000],
] as const

for (const [name, page, app, words, bytesMax] of firstScreens)
  for (const language of ['en', 'zh-cn'])
    test(`${name} needs less than ${bytesMax / 1_000} kB of compressed scripts in ${language}`, (context) => {
      const files = scriptsOf(page, app, `src/messages/${language}/${words}.ts`)
      const sizes = [...files].map(
        (path) => brotliCompressSync(readFileSync(join(built, path)), { params }).length,
      )
      const bytes = sizes.reduce((sum, size) => sum + size, 0)
      context.diagnostic(`${bytes} bytes in ${sizes.length} files`)
      assert.ok(sizes.length > 1 && bytes > 10_000, 'the scripts were not found')
      assert.ok(bytes < bytesMax, `${bytes} bytes`)
      const later = ['pages', 'lists', 'plot', 'code-editor'].map((script) => `assets/${script}.js`)
      assert.deepEqual(
        later.filter((script) => files.has(script)),
        [],
        'they load a moment later',
      )
    })

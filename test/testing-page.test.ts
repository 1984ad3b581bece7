/** docs/testing.md shows the example as it is run, and only options that exist. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/testing.md'), 'utf8')

test('docs/testing.md contains the whole example that npm test runs', () => {
  const example = readFileSync(join(root, 'test/e2e/first-answer.test.ts'), 'utf8')
  assert.equal(/```ts\n(.*?)```/s.exec(page)?.[1], example)
})

test('docs/testing.md names only options and functions that test/support has', () => {
  const sources = [
    'scenario',
    'gateway-view',
    'http-client',
    'requests',
    'manual-clock',
    'page',
    'console/look',
  ]
    .map((name) => readFileSync(join(root, `test/support/${name}.ts`), 'utf8'))
    .join('\n')
  const names = [...page.matchAll(/^\| `([a-zA-Z]+)(?:`, `([a-zA-Z]+))?/gm)].flatMap((match) =>
    match.slice(1).filter((name) => name !== undefined && name !== 'npm'),
  )
  assert.ok(names.length > 12, names.join())
  for (const name of names) assert.match(sources, new RegExp(`\\b${name}\\b`))
})

/**
 * The pages in docs/clients say what is true: the versions are those that the tests install, and the
 * programs are the examples that the tests run.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { go, installedApart, maven, npm, python, type Package } from './support/client-pins.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Each page with the packages that a test runs its program with; none where no test does. */
const packagesOf: Readonly<Record<string, readonly Package[]>> = {
  aider: [],
  'ai-sdk': npm('ai', '@ai-sdk/anthropic', '@ai-sdk/openai', 'zod'),
  'anthropic-sdk': npm('@anthropic-ai/sdk'),
  'claude-code': npm('@anthropic-ai/claude-code'),
  cline: npm('@cline/cli-linux-x64'),
  codex: npm('@openai/codex'),
  continue: npm('@continuedev/cli'),
  curl: [],
  go: go('github.com/anthropics/anthropic-sdk-go', 'github.com/openai/openai-go/v3'),
  instructor: python('libraries-openai-2', 'instructor', 'anthropic', 'openai'),
  java: maven('com.anthropic:anthropic-java', 'com.openai:openai-java'),
  'langchain-js': npm('@langchain/anthropic', '@langchain/core', '@langchain/openai', 'zod'),
  'langchain-python': python('libraries', 'langchain-anthropic', 'langchain-openai'),
  litellm: python('libraries-openai-2', 'litellm', 'mcp'),
  llm: python('llm', 'llm'),
  llamaindex: python(
    'libraries-openai-2',
    'llama-index-core',
    'llama-index-llms-openai',
    'llama-index-llms-openai-like',
    'llama-index-embeddings-openai-like',
  ),
  'open-webui': python('open-webui', 'open-webui'),
  'openai-agents': python('libraries', 'openai-agents'),
  'openai-sdk': npm('openai'),
  opencode: npm('opencode-linux-x64'),
  pi: [installedApart.pi],
  'pydantic-ai': python('libraries', 'pydantic-ai-slim'),
  python: python('newest', 'anthropic', 'openai'),
  'qwen-code': npm('@qwen-code/qwen-code'),
}

/** What somebody who tries an example in its folder installs there. */
const installed = /^(node_modules|\.venv|target|package(-lock)?\.json|go\.sum)$/

function listPrograms(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !installed.test(name))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      return entry.isDirectory() ? listPrograms(path) : [path]
    })
}

const pages = readdirSync(join(root, 'docs', 'clients'))
  .map((file) => file.replace(/\.md$/, ''))
  .filter((name) => name !== 'readme')

test('each page about a client is in the list of this test', () => {
  assert.deepEqual(pages.toSorted(), Object.keys(packagesOf).toSorted())
})

for (const [name, packages] of Object.entries(packagesOf)) {
  const page = read(`docs/clients/${name}.md`)

  test(`the page ${name} names the versions that the tests run`, () => {
    const tested = page.slice(page.lastIndexOf('\nTested with '))
    const named = [...tested.matchAll(/`([^`]+)` ([\d.]+\d)/g)].map(([, is, version]) => ({
      name: is,
      version,
    }))
    assert.deepEqual(named, packages)
  })

  test(`the page ${name} installs the versions that the tests run`, () => {
    const installed = [...page.matchAll(/([@\w/.-]+)(?:\[[\w,]+\])?(?:==|@v?)(\d[\d.]*)/g)]
    for (const [, is = '', version] of installed)
      assert.equal(version, packages.find((known) => known.name === is)?.version, is)
  })

  test(`the index shows the page ${name} with its tested version`, () => {
    const rows = read('docs/clients/readme.md')
      .split('\n')
      .filter((line) => line.includes(`(${name}.md)`))
    assert.ok(rows.length > 0)
    for (const row of rows)
      for (const [, is = '', version] of row.matchAll(/`([^`/][^`]*|@[^`]+)` (\d[\d.]*)/g))
        assert.equal(version, packages.find((known) => known.name === is)?.version, is)
  })

  const folder = `examples/${name}`
  if (existsSync(join(root, folder)))
    test(`the page ${name} shows the programs that the tests run`, () => {
      for (const path of listPrograms(folder))
        assert.ok(page.includes(`\n${read(path)}\`\`\``), path)
    })
}

test('every example has a page', () => {
  const folders = readdirSync(join(root, 'examples'), { withFileTypes: true })
  for (const { name } of folders.filter((entry) => entry.isDirectory()))
    assert.ok(pages.includes(name) || existsSync(join(root, 'docs', `${name}.md`)), name)
})

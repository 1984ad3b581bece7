/**
 * The website builds without a network, its list names every page of docs/, it loads nothing from another
 * origin, and each of its links leads to a page and a heading that exist.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { text } from 'node:stream/consumers'

const root = join(import.meta.dirname, '..', '..')
const generator = join(root, 'site', 'node_modules', 'vitepress', 'bin', 'vitepress.js')

describe('the website of docs/', () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-site-'))
  const pages = new Map<string, string>()

  before(async () => {
    const building = spawn(process.execPath, [generator, 'build', 'site', '--outDir', folder], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output = Promise.all([text(building.stdout), text(building.stderr)])
    const [code] = (await once(building, 'exit')) as [number]
    assert.equal(code, 0, (await output).join(''))
    for (const path of filesOf(folder).filter((each) => each.endsWith('.html')))
      pages.set(path, readFileSync(join(folder, path), 'utf8'))
  })

  after(() => rmSync(folder, { recursive: true }))

  test('has every page, and its list of pages names each', () => {
    const sources = filesOf(join(root, 'docs')).filter((path) => path.endsWith('.md'))
    const start = pages.get('start.html') ?? ''
    for (const source of sources) {
      const path = source.replace(/\.md$/, '')
      assert.ok(pages.has(`${path}.html`), source)
      if (path !== 'index') assert.ok(start.includes(`href="/${path}"`), `no link to ${source}`)
    }
  })

  test('links lead to pages and headings that exist', () => {
    const broken: string[] = []
    for (const [path, html] of pages)
      for (const [, target = ''] of html.matchAll(/<a\b[^>]*?\shref="([^"]+)"/g)) {
        const { origin, pathname, hash } = new URL(target, `http://site/${path}`)
        if (origin !== 'http://site') continue
        const file = fileAt(folder, pathname)
        const id = decodeURIComponent(hash.slice(1))
        const isFound =
          file !== undefined && (id === '' || pages.get(file)?.includes(` id="${id}"`))
        if (isFound !== true) broken.push(`${path}: ${target}`)
      }
    assert.deepEqual(broken, [])
  })

  test('pages load nothing from another origin, and what they load exists', () => {
    const loaded = /<(?:script|img|link)\b[^>]*?\s(?:src|href)="([^"]+)"/g
    for (const [path, html] of pages)
      for (const [, source = ''] of html.matchAll(loaded)) {
        if (source.startsWith('data:')) continue
        const { origin, pathname } = new URL(source, `http://site/${path}`)
        assert.equal(origin, 'http://site', `${path}: ${source}`)
        assert.ok(existsSync(join(folder, pathname)), `${path}: ${source}`)
      }
  })
})

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
}

/** The file that a web server sends for the path. */
function fileAt(folder: string, pathname: string): string | undefined {
  const path = pathname.slice(1)
  return [`${path}.html`, `${path}index.html`, path].find((each) => existsSync(join(folder, each)))
}

/**
 * The browser that the tests of the console use finds each mistake: every page here has exactly one, and the
 * test fails where it is not found. A page without a mistake passes.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startBrowser } from '../support/console/browser.ts'
import {
  checkFitsWindow,
  checkAccessibility,
  findAccessibilityMistakes,
  takePicture,
} from '../support/console/look.ts'

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src *"

/** A page that has nothing to complain about, with `body` and a script added. */
function pageOf(body: string): string {
  return `<!doctype html><html lang="en"><head><title>Page</title><link rel="icon" href="/icon">
    <script src="script.js" defer></script></head>
    <body><main><h1>Page</h1>${body}</main></body></html>`
}

/** By path: what the body has in addition, and what the script does. */
const pages: Readonly<Record<string, readonly [body: string, script: string]>> = {
  right: ['<p>Right.</p>', ''],
  console: ['', 'console.warn("odd")'],
  exception: ['', 'setTimeout(() => { throw new Error("broken") })'],
  missing: ['<img src="/none.png" alt="None">', ''],
  inline: ['<p style="color: red">Red.</p>', ''],
  dialog: ['', 'alert("hello")'],
  elsewhere: ['', 'fetch("http://console.example/").catch(() => undefined)'],
  leaving: ['', 'fetch("/slow", { signal: AbortSignal.timeout(1) }).catch(() => undefined)'],
  label: ['<input type="text">', ''],
  wide: ['<img src="/icon" alt="Wide" width="2000" height="10">', ''],
}

const image = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
const server = createServer((request, response) => {
  const [, name = '', file] = (request.url ?? '').split('/')
  const page = pages[name]
  response.setHeader('content-security-policy', policy)
  if (name === 'slow') return
  if (name === 'icon') response.setHeader('content-type', 'image/svg+xml').end(image)
  else if (page === undefined) response.writeHead(404).end()
  else if (file === 'script.js')
    response.setHeader('content-type', 'text/javascript').end(page[1] || ';')
  else response.setHeader('content-type', 'text/html').end(pageOf(page[0]))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const browser = await startBrowser()
after(async () => {
  await browser.close()
  server.closeAllConnections()
  server.close()
})

function visit(name: string, allowed: readonly RegExp[] = []): Promise<void> {
  return browser.withPage({ origin, allowed }, async (page) => {
    await page.goto(`${origin}/${name}/`)
    await page.waitForLoadState('networkidle')
  })
}

describe('the browser of the tests', () => {
  test('accepts a page without a mistake', async () => {
    await browser.withPage({ origin, width: 'narrow', theme: 'dark' }, async (page) => {
      await page.goto(`${origin}/right/`)
      await checkAccessibility(page)
      await checkFitsWindow(page)
    })
  })

  for (const [name, complaint] of [
    ['console', /console warning: odd/],
    ['exception', /exception: Error: broken/],
    ['missing', /console error: .*404/],
    ['inline', /console error: .*style-src/],
    ['dialog', /dialog: hello/],
    ['elsewhere', /request to http:\/\/console\.example/],
  ] as const)
    test(`complains about: ${name}`, async () => {
      await assert.rejects(visit(name), complaint)
    })

  test('accepts what a test allows, and nothing else', async () => {
    await visit('console', [/odd/])
    await assert.rejects(visit('console', [/even/]), /odd/)
  })

  test('accepts a request that the page itself gives up', async () => {
    await visit('leaving')
  })

  test('finds a field without a label, and a page that is too wide', async () => {
    await browser.withPage({ origin, width: 'narrow' }, async (page) => {
      await page.goto(`${origin}/label/`)
      const mistakes = await findAccessibilityMistakes(page)
      assert.match(mistakes.join(), /^label \| .* \| input \|/)
      await page.goto(`${origin}/wide/`)
      await assert.rejects(checkFitsWindow(page), /2008 px wide in a window of 380 px/)
    })
  })

  test('takes pictures where a folder for them is named', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-pictures-'))
    const before = process.env['TURNPIKE_TEST_PICTURES']
    try {
      process.env['TURNPIKE_TEST_PICTURES'] = folder
      await browser.withPage({ origin, width: 'middle', theme: 'dark' }, async (page) => {
        await page.goto(`${origin}/right/`)
        await takePicture(page, 'right')
      })
      assert.deepEqual(readdirSync(folder), ['right-768-dark.png'])
    } finally {
      if (before === undefined) delete process.env['TURNPIKE_TEST_PICTURES']
      else process.env['TURNPIKE_TEST_PICTURES'] = before
      rmSync(folder, { recursive: true })
    }
  })

  test('keeps cookies between the pages of one context only', async () => {
    const readCookie = (page: Page) => page.evaluate<string>('document.cookie')
    await browser.withContext({ origin }, async (context) => {
      const [first, second] = [await context.newPage(), await context.newPage()]
      await first.goto(`${origin}/right/`)
      await first.evaluate("document.cookie = 'name=value'")
      await second.goto(`${origin}/right/`)
      assert.equal(await readCookie(second), 'name=value')
    })
    await browser.withPage({ origin }, async (page) => {
      await page.goto(`${origin}/right/`)
      assert.equal(await readCookie(page), '')
    })
  })
})

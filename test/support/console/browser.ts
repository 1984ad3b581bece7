/**
 * A real headless Chromium for the tests of the console and the account page, one per test file. Its pages
 * write down everything that a reader of these pages must never meet: messages on the browser's console,
 * exceptions, failed requests, dialogs, and requests to another origin. Nothing can reach another machine.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type BrowserContext, type Page } from 'playwright-core'

const widths = { narrow: 380, middle: 768, laptop: 1024, wide: 1440 } as const

export interface PageOptions {
  /** The only origin that the page may speak to. */
  readonly origin: string
  readonly width?: keyof typeof widths
  readonly theme?: 'light' | 'dark'
  /** Which the browser prefers; English by default. */
  readonly language?: 'en-GB' | 'zh-CN'
  /** Of the reader, as the IANA names it; UTC by default. */
  readonly zone?: string
  /** Complaints that the test provokes, such as the 401 of a wrong token. */
  readonly allowed?: readonly RegExp[]
}

export interface TestBrowser {
  /**
   * Opens a page with cookies and storage that no other page has, and closes it after `work`. Fails where
   * the page gave cause for a complaint.
   */
  withPage<Result>(options: PageOptions, work: (page: Page) => Promise<Result>): Promise<Result>
  /** The same without a page that is open already: for several pages with the same cookies. */
  withContext<Result>(
    options: PageOptions,
    work: (context: BrowserContext) => Promise<Result>,
  ): Promise<Result>
  close(): Promise<void>
}

const heights = { narrow: 800, middle: 1024, laptop: 768, wide: 900 }
/** Long enough for a busy machine; what a test waits for usually comes at once. */
const waitMs = 30_000

/** Starts Chromium with a new profile, which `close` deletes. */
export async function startBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    // Chromium refuses to run with its sandbox as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'],
  })
  async function withContext<Result>(
    options: PageOptions,
    work: (context: BrowserContext) => Promise<Result>,
  ): Promise<Result> {
    const width = options.width ?? 'wide'
    const context = await browser.newContext({
      viewport: { width: widths[width], height: heights[width] },
      colorScheme: options.theme ?? 'light',
      locale: options.language ?? 'en-GB',
      timezoneId: options.zone ?? 'UTC',
      reducedMotion: 'reduce',
    })
    context.setDefaultTimeout(waitMs)
    const complaints: string[] = []
    watch(context, options.origin, (complaint) => complaints.push(complaint))
    try {
      const result = await work(context)
      // What the pages have reported by now comes before these answers.
      await Promise.all(context.pages().map((page) => page.evaluate('0')))
      const allowed = options.allowed ?? []
      assert.deepEqual(
        complaints.filter((complaint) => !allowed.some((pattern) => pattern.test(complaint))),
        [],
        'the page gave cause for complaints',
      )
      return result
    } finally {
      await context.close()
    }
  }
  return {
    withContext,
    withPage: (options, work) =>
      withContext(options, async (context) => work(await context.newPage())),
    close: () => browser.close(),
  }
}

/** Chromium without the windows of a browser: they would take five times the CPU of the pages. */
export function findChromium(): string {
  const folders = ['/usr/bin', ...(process.env['PATH'] ?? '').split(':')]
  const found = folders
    .map((folder) => join(folder, 'chromium-headless-shell'))
    .find((path) => existsSync(path))
  if (found === undefined) throw new Error('Chromium is not installed; npm test installs it')
  return found
}

function watch(context: BrowserContext, origin: string, complain: (text: string) => void): void {
  context.on('console', (message) => {
    if (['error', 'warning', 'assert'].includes(message.type()))
      complain(`console ${message.type()}: ${message.text()} ${message.location().url}`)
  })
  context.on('weberror', (error) => complain(`exception: ${error.error().stack ?? 'unknown'}`))
  context.on('request', (request) => {
    if (!isOwn(request.url(), origin)) complain(`request to ${request.url()}`)
  })
  context.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? 'unknown'
    // The page itself gave it up, for instance because its reader went to another page.
    if (why !== 'net::ERR_ABORTED') complain(`failed request: ${request.url()} ${why}`)
  })
  context.on('page', (page) => {
    page.on('crash', () => complain('the page crashed'))
    page.on('websocket', (socket) => complain(`WebSocket to ${socket.url()}`))
  })
  // Without this listener a dialog would wait for an answer for ever.
  context.on('dialog', (dialog) => {
    complain(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
}

/** What the page makes itself, as a file that it offers to save, is its own too. */
function isOwn(url: string, origin: string): boolean {
  return url === 'about:blank' || new URL(url).origin === origin
}

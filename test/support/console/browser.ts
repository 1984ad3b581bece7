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
  /** What the work puts into the page stays in it, so it is for nothing else. */
  readonly isChanged?: boolean
  /** Complaints that the test provokes, such as the 401 of a wrong token. */
  readonly allowed?: readonly RegExp[]
}

export interface TestBrowser {
  /**
   * Gives `work` a page without cookies and storage. Fails where the page gave cause for a complaint. A page
   * whose work went well serves the next one of the same reader: a new one takes three times the CPU.
   */
  withPage<Result>(options: PageOptions, work: (page: Page) => Promise<Result>): Promise<Result>
  /** A new context, without a page that is open already: for several pages with the same cookies. */
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
  async function open(options: PageOptions): Promise<Watched> {
    const context = await browser.newContext({
      ...lookOf(options),
      locale: options.language ?? 'en-GB',
      timezoneId: options.zone ?? 'UTC',
    })
    context.setDefaultTimeout(waitMs)
    const watched: Watched = { context, origin: options.origin, complaints: [], isOver: false }
    watch(watched)
    return watched
  }
  async function withContext<Result>(
    options: PageOptions,
    work: (context: BrowserContext) => Promise<Result>,
  ): Promise<Result> {
    const watched = await open(options)
    try {
      return await withoutComplaints(watched, options, () => work(watched.context))
    } finally {
      await watched.context.close()
    }
  }
  const idle = new Map<string, [Watched, Page]>()
  async function withPage<Result>(
    options: PageOptions,
    work: (page: Page) => Promise<Result>,
  ): Promise<Result> {
    if (options.isChanged === true)
      return withContext(options, async (context) => work(await context.newPage()))
    const reader = [options.origin, options.language, options.zone].join()
    let found = idle.get(reader)
    idle.delete(reader)
    if (found === undefined) {
      const watched = await open(options)
      found = [watched, await watched.context.newPage()]
    }
    const [watched, page] = found
    const look = lookOf(options)
    await page.setViewportSize(look.viewport)
    await page.emulateMedia(look)
    try {
      const result = await withoutComplaints(watched, options, () => work(page))
      await empty(watched, page)
      await idle.get(reader)?.[0].context.close()
      idle.set(reader, found)
      return result
    } catch (error) {
      await watched.context.close()
      throw error
    }
  }
  return { withContext, withPage, close: () => browser.close() }
}

function lookOf({ width = 'wide', theme = 'light' }: PageOptions) {
  return {
    viewport: { width: widths[width], height: heights[width] },
    colorScheme: theme,
    reducedMotion: 'reduce',
  } as const
}

async function withoutComplaints<Result>(
  watched: Watched,
  { allowed = [] }: PageOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const { context, complaints } = watched
  complaints.length = 0
  watched.isOver = false
  const result = await work()
  // What the pages have reported by now comes before these answers.
  await Promise.all(context.pages().map((page) => page.evaluate('0')))
  assert.deepEqual(
    complaints.filter((complaint) => !allowed.some((pattern) => pattern.test(complaint))),
    [],
    'the page gave cause for complaints',
  )
  return result
}

/** Leaves nothing of a test in its page, which stays in the process that knows the console's scripts. */
async function empty(watched: Watched, page: Page): Promise<void> {
  const { context, origin } = watched
  watched.isOver = true
  for (const other of context.pages()) if (other !== page) await other.close()
  await context.clearCookies()
  await context.clearPermissions()
  await page.unrouteAll()
  for (const event of ['request', 'requestfinished']) page.removeAllListeners(event)
  await page.goto(`${origin}/health`)
  await page.evaluate('localStorage.clear(); sessionStorage.clear()')
  await page.mouse.move(0, 0)
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

/** A context, and what its pages gave cause for since the work of now began. */
interface Watched {
  readonly context: BrowserContext
  readonly origin: string
  readonly complaints: string[]
  /** Its page is left without asking whether edits are to be thrown away. */
  isOver: boolean
}

function watch(watched: Watched): void {
  const { context, origin, complaints } = watched
  const complain = (text: string): void => void complaints.push(text)
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
    if (watched.isOver) return void dialog.accept()
    complain(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
}

/** What the page makes itself, as a file that it offers to save, is its own too. */
function isOwn(url: string, origin: string): boolean {
  return url === 'about:blank' || new URL(url).origin === origin
}

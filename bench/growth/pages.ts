/**
 * The console in Chromium: how soon each page is there, loaded from its address with an empty cache, and
 * opened by its link in another page.
 */
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { findChromium } from '../../test/support/console/browser.ts'
import { beginSession } from '../../test/support/console/open-console.ts'
import { median } from '../measure/statistics.ts'

export interface PagesSetting {
  readonly browser: Browser
  /** Of the admin listener. */
  readonly origin: string
  readonly token: string
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium(),
    chromiumSandbox: process.getuid?.() !== 0,
  })
}

/** A page that takes longer does not work. */
const limitMs = 60_000

const row = 'main tbody tr'

/** By the name of the link: the path below `/console`, and what selects its first row or figure. */
const pages: Readonly<Record<string, readonly [path: string, first: string]>> = {
  Overview: ['/', 'main .figure'],
  Accounts: ['/accounts', row],
  Keys: ['/keys', row],
  Requests: ['/requests', row],
  Channels: ['/channels', row],
  'Models and prices': ['/models', row],
  Reports: ['/reports', row],
  Reconciliation: ['/reconciliation', 'main form'],
  // None may fire.
  Alerts: ['/alerts', `${row}, main .state`],
  Audit: ['/audit', row],
  Settings: ['/settings', row],
}

const rounds = 3

/** Returns the milliseconds to each page's first paint, and from the click on its link to its first row. */
export async function measurePages(
  origin: string,
  token: string,
): Promise<Readonly<Record<string, number>>> {
  const browser = await launchChromium()
  const setting = { browser, origin, token }
  try {
    const figures: Record<string, number> = {}
    for (const [name, [path, first]] of Object.entries(pages)) {
      const paints: number[] = []
      const rows: number[] = []
      const other = path === '/settings' ? '/audit' : '/settings'
      for (let round = 0; round < rounds; round++) {
        paints.push(await withPage(setting, path, (page) => until(page, firstPaint)))
        rows.push(await withPage(setting, other, (page) => openByLink(page, name, first)))
      }
      figures[`page ${name}, first paint`] = median(paints)
      figures[`page ${name}, first row`] = median(rows)
    }
    return figures
  } finally {
    await browser.close()
  }
}

/** Opens the page in a new session with an empty cache. */
async function withPage<Result>(
  setting: PagesSetting,
  path: string,
  work: (page: Page) => Promise<Result>,
): Promise<Result> {
  const context = await openContext(setting)
  try {
    return await work(await openPage(setting, context, path))
  } finally {
    await context.close()
  }
}

async function openContext({ browser, origin, token }: PagesSetting): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } })
  context.setDefaultTimeout(limitMs)
  await beginSession(context, { origin, token })
  return context
}

async function openPage(
  { origin }: PagesSetting,
  context: BrowserContext,
  path: string,
): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${origin}/console${path}`)
  await until(page, "document.querySelector('main h1') ?? undefined")
  return page
}

/** Opens this many pages with live data, and leaves them open. */
export async function openConsoles(setting: PagesSetting, count: number): Promise<void> {
  const paths = ['/', '/requests', '/channels']
  for (let index = 0; index < count; index++)
    await openPage(setting, await openContext(setting), paths[index % paths.length] ?? '/')
}

/** Chromium reports it some frames later. */
const firstPaint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"

/**
 * Returns what the expression gives in the page as soon as it is not undefined, after `begin`. Playwright's
 * own functions for it need what the page's CSP does not allow.
 */
function until(page: Page, expression: string, begin = ''): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve, reject) => {
    const startedMs = performance.now()
    ${begin}
    const look = () => {
      const found = ${expression}
      const tookMs = performance.now() - startedMs
      if (found !== undefined) return resolve(typeof found === 'number' ? found : tookMs)
      if (tookMs > ${limitMs}) return reject(new Error(${JSON.stringify(expression)}))
      requestAnimationFrame(look)
    }
    look()
  })`)
}

function openByLink(page: Page, name: string, first: string): Promise<number> {
  const isThere = `document.querySelector('main h1') !== before && document.querySelector(${JSON.stringify(first)})`
  return until(
    page,
    `(${isThere}) || undefined`,
    `const before = document.querySelector('main h1')
    const links = [...document.querySelectorAll('nav a')]
    links.find(({ textContent }) => textContent === ${JSON.stringify(name)}).click()`,
  )
}

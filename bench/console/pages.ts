/**
 * Measures the pages of the console in Chromium: each page loaded from its address with an empty cache, and
 * each page opened by its link in another page.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { beginSession } from '../../test/support/console/open-console.ts'
import { median } from '../measure/statistics.ts'
import type { PageRow } from './report.ts'

export interface PagesSetting {
  readonly browser: Browser
  /** Of the admin listener. */
  readonly origin: string
  readonly token: string
  readonly rounds: number
}

/** A page that takes longer does not work. */
const limitMs = 60_000

interface PageForm {
  /** Below `/console`. */
  readonly path: string
  /** Selects the first row of its list, or the first figure. */
  readonly first: string
}

const row = 'main tbody tr'
const figure = 'main .figure'

/** By the name of the link. */
const pages: Readonly<Record<string, PageForm>> = {
  Overview: { path: '/', first: figure },
  Accounts: { path: '/accounts', first: row },
  Requests: { path: '/requests', first: row },
  Channels: { path: '/channels', first: '.channel-model' },
  'Models and prices': { path: '/models', first: row },
  Reports: { path: '/reports', first: row },
  Reconciliation: { path: '/reconciliation', first: 'main form' },
  // None may fire.
  Alerts: { path: '/alerts', first: `${row}, main .state` },
  Audit: { path: '/audit', first: row },
  Settings: { path: '/settings', first: row },
}

/** Loaded from its address. */
interface Loaded {
  readonly firstPaintMs: number
  readonly scriptBytes: number
}

/** Opened by its link. */
interface Opened {
  readonly shownMs: number
  readonly slowestCallMs: number
  readonly slowestCall: string
}

export async function measurePages(setting: PagesSetting): Promise<readonly PageRow[]> {
  const rows: PageRow[] = []
  for (const [name, { path, first }] of Object.entries(pages)) {
    const loaded: Loaded[] = []
    const opened: Opened[] = []
    for (let round = 0; round < setting.rounds; round++) {
      loaded.push(await withPage(setting, path, readLoaded))
      const other = path === '/settings' ? '/audit' : '/settings'
      opened.push(await withPage(setting, other, (page) => openByLink(page, { name, first })))
    }
    const paints = loaded.map(({ firstPaintMs }) => firstPaintMs)
    const shown = opened.map(({ shownMs }) => shownMs)
    const slowest = opened.toSorted((left, right) => right.slowestCallMs - left.slowestCallMs)[0]
    rows.push({
      page: name,
      firstPaintMs: median(paints),
      firstPaintHighestMs: Math.max(...paints),
      scriptBytes: Math.max(...loaded.map(({ scriptBytes }) => scriptBytes)),
      shownMs: median(shown),
      shownHighestMs: Math.max(...shown),
      slowestCallMs: slowest?.slowestCallMs ?? 0,
      slowestCall: slowest?.slowestCall ?? '',
    })
  }
  return rows
}

/** Opens the page in a new session with an empty cache. */
async function withPage<Result>(
  setting: PagesSetting,
  path: string,
  work: (page: Page) => Promise<Result>,
): Promise<Result> {
  const context = await openContext(setting)
  try {
    const page = await context.newPage()
    await page.goto(`${setting.origin}/console${path}`)
    await until(page, isShown)
    return await work(page)
  } finally {
    await context.close()
  }
}

async function openContext({ browser, origin, token }: PagesSetting): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } })
  context.setDefaultTimeout(60_000)
  await beginSession(context, { origin, token })
  return context
}

/** Opens this many pages with live data and keeps them open while `work` runs. */
export async function withConsoles<Result>(
  setting: PagesSetting,
  count: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const paths = ['/', '/requests', '/channels']
  const contexts: BrowserContext[] = []
  try {
    for (let index = 0; index < count; index++) {
      const context = await openContext(setting)
      contexts.push(context)
      const page = await context.newPage()
      await page.goto(`${setting.origin}/console${paths[index % paths.length] ?? '/'}`)
      await until(page, isShown)
    }
    return await work()
  } finally {
    for (const context of contexts) await context.close()
  }
}

/** In the page. */
const isShown = "document.querySelector('main h1') !== null"

/** Waits without Playwright's functions for it, which need what the page's CSP does not allow. */
function until(page: Page, condition: string): Promise<void> {
  return page.evaluate<void>(`new Promise((resolve, reject) => {
    const startedMs = performance.now()
    const look = () => {
      if (${condition}) return resolve()
      if (performance.now() - startedMs > ${limitMs}) return reject(new Error('the page stays empty'))
      requestAnimationFrame(look)
    }
    look()
  })`)
}

const firstPaint = "performance.getEntriesByName('first-contentful-paint')[0]"

async function readLoaded(page: Page): Promise<Loaded> {
  // Chromium reports it some frames later.
  await until(page, `${firstPaint} !== undefined`)
  return page.evaluate<Loaded>(`({
    firstPaintMs: ${firstPaint}.startTime,
    scriptBytes: performance.getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  })`)
}

/** Measures from the click to the frame that shows the first row. */
function openByLink(
  page: Page,
  { name, first }: { readonly name: string; readonly first: string },
): Promise<Opened> {
  return page.evaluate<Opened>(`new Promise((resolve, reject) => {
    const link = [...document.querySelectorAll('nav a')]
      .find(({ textContent }) => textContent === ${JSON.stringify(name)})
    const before = document.querySelector('main h1')
    performance.clearResourceTimings()
    const clickedMs = performance.now()
    link.click()
    const look = () => {
      const heading = document.querySelector('main h1')
      const isThere = heading !== null && heading !== before &&
        document.querySelector(${JSON.stringify(first)}) !== null
      const shownMs = performance.now() - clickedMs
      if (!isThere && shownMs > ${limitMs})
        return reject(new Error(${JSON.stringify(`${name} shows nothing like ${first}`)}))
      if (!isThere) return requestAnimationFrame(look)
      const calls = performance.getEntriesByType('resource')
        .filter(({ name }) => name.includes('/admin/v1/'))
        .sort((left, right) => right.duration - left.duration)
      resolve({
        shownMs,
        slowestCallMs: calls[0]?.duration ?? 0,
        slowestCall: calls.length === 0 ? '' : new URL(calls[0].name).pathname,
      })
    }
    requestAnimationFrame(look)
  })`)
}

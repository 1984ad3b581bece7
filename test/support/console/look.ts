/** What a test asserts about how a page looks and reads: accessibility, no overflow, pictures to look at. */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'

const accessibilityRules = [
  'wcag2a',
  'wcag2aa',
  'wcag21a',
  'wcag21aa',
  'wcag22a',
  'wcag22aa',
  'best-practice',
]

/** What axe runs; by default every rule of WCAG 2.2 A and AA, and of axe's good practice. */
interface RunOnly {
  readonly type: 'tag' | 'rule'
  readonly values: readonly string[]
}

const allRules: RunOnly = { type: 'tag', values: accessibilityRules }
/** The only rules whose result depends on the colour scheme. */
const colourRules: RunOnly = { type: 'rule', values: ['color-contrast'] }

/** One line for each place that breaks a rule. */
export async function findAccessibilityMistakes(
  page: Page,
  runOnly: RunOnly = allRules,
): Promise<readonly string[]> {
  // A colour on its way to another one is no colour that anyone has to read.
  await page.evaluate(`Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
    .map(({ finished }) => finished))`)
  // Playwright's scripts come through the browser's debugger, which the page's CSP does not concern.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe.source)
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] })
  return page.evaluate<string[]>(
    `axe.run(document, ${options}).then(({ violations }) => violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => [id, help, target.join(' '), failureSummary].join(' | '))))`,
  )
}

export async function checkAccessibility(page: Page): Promise<void> {
  assertNone(page, await findAccessibilityMistakes(page))
}

/** Checks the contrast of a page that has been checked in its other colour scheme. */
export async function checkColours(page: Page): Promise<void> {
  assertNone(page, await findAccessibilityMistakes(page, colourRules))
}

function assertNone(page: Page, mistakes: readonly string[]): void {
  assert.deepEqual(mistakes, [], `${page.url()}:\n${mistakes.join('\n')}`)
}

/** Only tables and code may be wider than the window, and they scroll in a box inside the page. */
export async function checkFitsWindow(page: Page): Promise<void> {
  const [content = 0, window = 0] = await page.evaluate<number[]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  )
  assert.ok(content <= window, `${page.url()} is ${content} px wide in a window of ${window} px`)
}

/** Writes a picture of the whole page, where TURNPIKE_TEST_PICTURES names a folder for them. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env['TURNPIKE_TEST_PICTURES']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  const theme = await page.evaluate<string>(
    "matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'",
  )
  const size = page.viewportSize() ?? { width: 0, height: 0 }
  const height = await page.evaluate<number>('document.documentElement.scrollHeight')
  // What sticks to an edge of the window is missing in Chromium's own picture of a whole page.
  await page.setViewportSize({ width: size.width, height: Math.max(height, size.height) })
  await page.screenshot({ path: join(folder, `${name}-${size.width}-${theme}.png`) })
  await page.setViewportSize(size)
}

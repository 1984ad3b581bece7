/** Counts the clicks of a person on a page, for tests that say how many a task may take. */
import type { Page } from 'playwright-core'

/** A page serves several tests, and gets a function only once. */
const counts = new WeakMap<Page, { clicks: number }>()

/** Returns what reads the number of clicks since now. Choosing from a list is one; Enter is typing. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  const known = counts.get(page)
  const count = known ?? { clicks: 0 }
  count.clicks = 0
  if (known === undefined) {
    counts.set(page, count)
    await page.exposeFunction('noteClick', () => (count.clicks += 1))
  }
  await page.evaluate(`
    addEventListener('click', ({ isTrusted, detail }) => isTrusted && detail > 0 && noteClick(), true)
    addEventListener('change', ({ target }) => target.matches('select') && noteClick(), true)
  `)
  return async () => {
    await page.evaluate('0')
    return count.clicks
  }
}

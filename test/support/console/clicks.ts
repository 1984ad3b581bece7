/** Counts the clicks of a person on a page, for tests that say how many a task may take. */
import type { Page } from 'playwright-core'

/** Returns what reads the number of clicks since now. Choosing from a list is one; Enter is typing. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  let count = 0
  await page.exposeFunction('noteClick', () => (count += 1))
  await page.evaluate(`
    addEventListener('click', ({ isTrusted, detail }) => isTrusted && detail > 0 && noteClick(), true)
    addEventListener('change', ({ target }) => target.matches('select') && noteClick(), true)
  `)
  return async () => {
    await page.evaluate('0')
    return count
  }
}

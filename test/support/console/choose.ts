/** Chooses from a list of the console as a person does: opens it and takes an option. */
import type { Locator } from 'playwright-core'

/** `wanted` is the text of an option, or its value in the address or the API. */
export async function choose(field: Locator, wanted: string): Promise<void> {
  await field.click()
  const options = field.page().getByRole('option')
  const byValue = field.page().locator(`[role=option][data-value=${JSON.stringify(wanted)}]`)
  const option = options.filter({ hasText: wanted }).or(byValue).filter({ visible: true }).first()
  await option.click()
  await option.waitFor({ state: 'detached' })
}

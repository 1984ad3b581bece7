/**
 * A person pastes the secret of a key into every field of every page and dialog. It is then in no address, no
 * entry of the history, no request's address, no storage of the browser, and no line of the gateway's log.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { addresses } from '../support/console/addresses.ts'
import { memberSettings, signInAs } from '../support/console/members.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { createClientKey, listRequests } from '../support/operations.ts'
import type { LogLine } from '../support/scenario.ts'
import { volume } from '../support/variants.ts'

const logLines: LogLine[] = []
let console: OpenConsole
let secret: string
before(async () => {
  console = await openConsole({
    requests: 100,
    settings: await memberSettings(),
    onLogLine: (line) => logLines.push(line),
  })
  const { context, account } = console.gateway
  secret = (await createClientKey(context, { account: account.id, name: 'pasted' })).secret
})
after(() => console.close())

/** More of the secret than any list shows. */
const part = (): string => secret.slice(8, 30)

/** Where a browser or a gateway has kept or told the secret. */
interface Traces {
  look(where: string, text: string): void
  assertNone(): void
}

/** Watches all pages of the context that open from now on. */
async function watchTraces(context: BrowserContext): Promise<Traces> {
  const found: string[] = []
  const look = (where: string, text: string): void => {
    if (text.includes(part())) found.push(`${where}: ${text.slice(0, 300)}`)
  }
  context.on('request', (request) => {
    look('address of a request', request.url())
    look('referer', request.headers()['referer'] ?? '')
  })
  context.on('page', (page) => page.on('framenavigated', (frame) => look('address', frame.url())))
  await context.exposeFunction('noteHistory', (text: string) => look('history', text))
  await context.addInitScript(`
    for (const name of ['pushState', 'replaceState']) {
      const original = history[name]
      history[name] = function (...given) {
        noteHistory(JSON.stringify(given))
        return original.apply(this, given)
      }
    }
  `)
  return {
    look,
    assertNone() {
      for (const line of logLines) look('log', JSON.stringify(line))
      assert.deepEqual(found, [])
    },
  }
}

const readStorage = `JSON.stringify([
  localStorage, sessionStorage, history.state, name, document.cookie, document.title, location.href,
])`

/** Fields that take any text. */
const textFields = [
  ...['', '[type=text]', '[type=search]', '[type=email]', '[type=url]', '[type=password]'].map(
    (type) => (type === '' ? 'input:not([type], [aria-hidden])' : `input${type}`),
  ),
  'textarea',
  '[contenteditable=true]',
].join(', ')

/** Two frames: what a click or a text has caused is drawn. */
function settle(page: Page): Promise<unknown> {
  return page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
  )
}

async function waitUntilRead(page: Page): Promise<void> {
  await page.getByText('Loading…').first().waitFor({ state: 'detached' })
}

/** One page or tab; `open` begins anew, without a question about what was typed. */
class Visit {
  readonly #context: BrowserContext
  readonly #address: string
  #page: Page | undefined
  fieldCount = 0
  dialogCount = 0

  constructor(context: BrowserContext, address: string) {
    this.#context = context
    this.#address = address
  }

  async open(): Promise<Page> {
    await this.#page?.close()
    const page = await this.#context.newPage()
    this.#page = page
    await page.goto(this.#address)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await waitUntilRead(page)
    return page
  }

  /** Opens the page, unless it is as it was opened. */
  async #fresh(): Promise<Page> {
    return this.fieldCount === 0 && this.#page !== undefined ? this.#page : this.open()
  }

  async close(traces: Traces): Promise<void> {
    traces.look('storage', (await this.#page?.evaluate<string>(readStorage)) ?? '')
    await this.#page?.close()
  }

  /** The addresses of the other tabs of the page. */
  async tabs(): Promise<readonly string[]> {
    const page = await this.open()
    return page.evaluate<string[]>(
      "[...document.querySelectorAll('.tabs a')].map(({ href }) => href).slice(1)",
    )
  }

  /** Pastes into each field of the page. One that takes the secret leads to its key. */
  async pasteIntoPage(): Promise<void> {
    let page = await this.#fresh()
    for (let index = 0; ; index++) {
      const field = page.locator('#content').locator(textFields).nth(index)
      if ((await field.count()) === 0) return
      if (!(await this.#paste(field))) continue
      const isSearch = (await field.getAttribute('type')) === 'search'
      if (isSearch && (await field.inputValue()) === '') {
        await page.waitForURL(/\/keys\?key=/)
        page = await this.open()
        continue
      }
      if (isSearch) {
        assert.ok(!(await field.inputValue()).includes(part()), `${this.#address}, field ${index}`)
        await field.press('Enter')
      }
      await field.blur()
      await settle(page)
    }
  }

  /** False for a field that takes no text now. */
  async #paste(field: Locator): Promise<boolean> {
    if (!(await field.isVisible()) || !(await field.isEditable(whileThere).catch(() => false)))
      return false
    this.fieldCount += 1
    if ((await field.getAttribute('contenteditable')) === 'true') {
      await field.focus()
      await field.page().keyboard.insertText(secret)
    } else await field.fill(secret)
    return true
  }

  /** Opens each dialog that a button or a menu of the page leads to, and pastes into its fields. */
  async pasteIntoDialogs(seen: Set<string>): Promise<void> {
    const page = await this.#fresh()
    const names = await page.evaluate<string[]>(
      `[...document.querySelectorAll('#content button:not(:disabled, .table-sort)')]
        .map((one) => (one.ariaLabel ?? one.textContent).replace(/\\s+/g, ' ').trim())`,
    )
    const { pathname } = new URL(page.url())
    const unseen = onePerKind(names).filter((name) => !seen.has(`${pathname} ${name}`))
    for (const name of unseen) {
      seen.add(`${pathname} ${name}`)
      for (let index = 0; ; index++) {
        await click(page, page.locator('#content').getByRole('button', { name, exact: true }))
        const items = page.getByRole('menuitem')
        const itemCount = await items.count()
        if (itemCount > 0) await click(page, items.nth(index))
        await this.#pasteIntoOpenDialog(page)
        if (index + 1 >= itemCount) break
      }
    }
  }

  async #pasteIntoOpenDialog(page: Page): Promise<void> {
    // Toasts have the role of a dialog too.
    const dialog = page.locator('.dialog')
    if ((await dialog.count()) === 0) return
    await waitUntilRead(page)
    this.dialogCount += 1
    for (const summary of await dialog.locator('summary').all()) await click(page, summary)
    for (const field of await dialog.locator(textFields).all()) await this.#paste(field)
    // A first Escape may empty a field, or close its suggestions.
    for (let press = 0; press < 3 && (await dialog.count()) > 0; press++) {
      await page.keyboard.press('Escape')
      await settle(page)
      const discard = page.getByRole('button', { name: 'Discard', exact: true })
      if ((await discard.count()) > 0) await click(page, discard)
    }
    assert.equal(await dialog.count(), 0, `a dialog of ${page.url()} stays open`)
  }
}

/** A list that is read again may take a button away; there are enough others, see the counts below. */
const whileThere = { timeout: 5_000 } as const

async function click(page: Page, target: Locator): Promise<void> {
  const one = target.first()
  if ((await one.count()) === 0 || !(await one.isEnabled(whileThere).catch(() => false))) return
  await one.click(whileThere).catch(() => undefined)
  await settle(page)
}

/** They save files, end the session, or change what the page shows. */
const skipped =
  /Export|Download|Copy|Show|Sign out|Print|Pause|Continue|Select|Clear|Served|Snooze|Acknowledge/

/** Buttons of rows differ by the row only. */
function onePerKind(names: readonly string[]): readonly string[] {
  const kinds = new Map<string, string>()
  for (const name of names) {
    if (name === '' || skipped.test(name)) continue
    const kind = /^(Actions of|Actions for|Revoke|Edit|Open|Change)\b/.exec(name)?.[1] ?? name
    if (!kinds.has(kind)) kinds.set(kind, name)
  }
  return [...kinds.values()]
}

test('a secret pasted into every field of the console leaves no trace', async () => {
  const { adminUrl, context } = console.gateway
  const { items } = await listRequests(context, { limit: 1, status: '2xx' })
  const allowed = [/status of 4\d\d/]
  await console.withConsole({ path: '/', allowed, isChanged: true }, async (first) => {
    const traces = await watchTraces(first.context())
    const counts = { fields: 0, dialogs: 0 }
    /** Tabs share the buttons above them. */
    const seen = new Set<string>()
    const visit = async (address: string): Promise<readonly string[]> => {
      const visited = new Visit(first.context(), address)
      const tabs = await visited.tabs()
      await visited.pasteIntoPage()
      await visited.pasteIntoDialogs(seen)
      await visited.close(traces)
      counts.fields += visited.fieldCount
      counts.dialogs += visited.dialogCount
      return tabs
    }
    for (const path of Object.values(addresses)) {
      const address = `${adminUrl}/console${path.replace('$request', items[0]?.id ?? '')}`
      const tabs = await visit(address)
      for (const tab of tabs.slice(0, volume({ few: 1, all: tabs.length }))) await visit(tab)
    }
    assert.ok(counts.fields >= 50 && counts.dialogs >= 10, JSON.stringify(counts))
    assert.ok(logLines.length > 0)
    traces.assertNone()
  })
})

test('a secret pasted into the fields of what an owner runs leaves no trace', async () => {
  const { url } = console.gateway
  const allowed = [/status of 4\d\d/]
  await console.browser.withContext({ origin: url, allowed }, async (context) => {
    await signInAs(context, console.gateway, 'owner')
    const traces = await watchTraces(context)
    const counts = { fields: 0, dialogs: 0 }
    for (const view of ['keys', 'people', 'topup', 'details']) {
      const visited = new Visit(context, `${url}/account/?view=${view}`)
      await visited.pasteIntoPage()
      await visited.pasteIntoDialogs(new Set())
      await visited.close(traces)
      counts.fields += visited.fieldCount
      counts.dialogs += visited.dialogCount
    }
    assert.ok(counts.fields >= 10 && counts.dialogs >= 4, JSON.stringify(counts))
    traces.assertNone()
  })
})

test('a secret pasted into the palette and the sign-in leaves no trace', async () => {
  const { adminUrl } = console.gateway
  await console.withConsole(
    { path: '/', allowed: [/status of 40[13]/], isChanged: true },
    async (first) => {
      const traces = await watchTraces(first.context())
      const page = await first.context().newPage()
      await page.goto(`${adminUrl}/console/`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.keyboard.press('Control+k')
      const palette = page.getByRole('combobox', { name: 'Search everything' })
      await palette.fill(secret.slice(0, 40))
      await page.getByRole('option').filter({ hasText: 'pasted' }).waitFor()
      await palette.fill(secret)
      await page.waitForURL(/\/keys\?key=/)
      // What the page still reads without its cookie is refused.
      await page.context().clearCookies()
      await page.goto(`${adminUrl}/console/sign-in`)
      await page.getByLabel('Admin token').fill(secret)
      await page.getByLabel('Admin token').press('Enter')
      await page.getByRole('alert').waitFor()
      traces.look('storage', await page.evaluate<string>(readStorage))
      traces.assertNone()
    },
  )
})

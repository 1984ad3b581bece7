/**
 * The account page on the public listener, used by clicking: the token stays in its tab, and every figure is
 * that of the API. The business has two months behind it.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Download, Page, Request } from 'playwright-core'
import { parseUsd } from '../../src/base/money.ts'
import { countClicks } from '../support/console/clicks.ts'
import { choose } from '../support/console/choose.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { send } from '../support/http-client.ts'
import { createReaderToken, revokeKey, setAccountStatus } from '../support/operations.ts'
import { sealEndedHours } from '../support/sealed-books.ts'

/** Chromium reports each refused request. */
const refused = /console error: Failed to load resource: .* 40[14] /

let console: OpenConsole
let token: string

interface Line {
  readonly day: string
  readonly model: string
  readonly key: string
  readonly cost: string
}

async function read<Shape>(path: string, secret = token): Promise<Shape> {
  const headers = { authorization: `Bearer ${secret}` }
  const answer = await send(`${console.gateway.url}/v1/usage${path}`, { headers })
  assert.equal(answer.status, 200, answer.text)
  return JSON.parse(answer.text) as Shape
}

async function signIn(page: Page, secret = token): Promise<void> {
  await page.getByLabel('Read-only token').fill(secret)
  await page.getByRole('button', { name: 'Show my account' }).click()
  await page.getByRole('navigation', { name: 'Views' }).waitFor()
}

async function openView(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name }).click()
}

/** Names of the operator's channels and other accounts, and words for the operator's money. */
let operatorsSide: readonly string[]

/** Every answer of the API that the page reads is searched for the operator's side. */
function visit(work: (page: Page) => Promise<void>, look: object = {}): Promise<void> {
  return console.withAccountPage({ allowed: [refused], ...look }, async (page) => {
    const answers: Promise<string>[] = []
    // Not each response: the body of one that the page gave up never comes.
    page.on('requestfinished', (request) => {
      if (request.url().includes('/v1/usage/')) answers.push(textOf(request))
    })
    await work(page)
    const texts = await Promise.all(answers)
    assert.ok(texts.some((answer) => answer !== ''))
    for (const answer of texts)
      for (const word of operatorsSide) assert.ok(!answer.includes(word), `${word} in ${answer}`)
  })
}

/** Empty where the page went on before Chromium could give the body. */
async function textOf(request: Request): Promise<string> {
  try {
    return (await (await request.response())?.text()) ?? ''
  } catch {
    return ''
  }
}

async function readOperatorsSide(): Promise<readonly string[]> {
  const { adminUrl } = console.gateway
  const headers = { authorization: `Bearer ${console.tokens.viewer}` }
  const list = async (path: string): Promise<readonly { readonly name: string }[]> => {
    const { text } = await send(`${adminUrl}/admin/v1${path}`, { headers })
    return (JSON.parse(text) as { items: readonly { readonly name: string }[] }).items
  }
  const own = await read<{ readonly name: string }>('/account')
  const accounts = (await list('/accounts')).filter(({ name }) => name !== own.name)
  const channels = await list('/channels')
  assert.ok(accounts.length > 5 && channels.length > 3)
  const names = [...accounts, ...channels].map(({ name }) => name)
  return [...names, 'channel', 'own_cost', 'margin', 'ad_']
}

/** Exact amount as the page writes it: $1,234.50. */
function exact(usd: string): string {
  const [whole = '', fraction = ''] = usd.split('.')
  return `$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction.padEnd(2, '0')}`
}

function sum(amounts: readonly string[]): bigint {
  return amounts.reduce((total, amount) => total + (parseUsd(amount) ?? 0n), 0n)
}

before(async () => {
  console = await openConsole({
    requests: 300,
    settings: {
      operator_name: 'Acme <b>AI</b>',
      operator_contact: 'mailto:help@acme.example',
      // No request may go between two looks at it.
      request_retention: '365d',
    },
  })
  token = console.gateway.account.token
  operatorsSide = await readOperatorsSide()
})
after(() => console.close())

describe('an account holder', () => {
  test('signs in with a read-only token, which stays in this tab, and lets the tab forget it', async () => {
    await visit(async (page) => {
      await page.getByText('Acme <b>AI</b>').waitFor()
      const contact = page.getByRole('link', { name: 'help@acme.example' })
      assert.equal(await contact.getAttribute('href'), 'mailto:help@acme.example')
      const field = page.getByLabel('Read-only token')
      assert.equal(await field.getAttribute('type'), 'password')
      await signIn(page)
      for (const name of ['Requests', 'Keys', 'Prices', 'Statement', 'Set up', 'Overview']) {
        await openView(page, name)
        assert.ok(!page.url().includes(token.slice(3)), page.url())
      }
      const kept = await page.evaluate<string>(
        'JSON.stringify([document.cookie, { ...localStorage }, history.state])',
      )
      assert.ok(!kept.includes(token.slice(3)), kept)
      await page.reload()
      await page.getByRole('navigation', { name: 'Views' }).waitFor()
      const other = await page.context().newPage()
      await other.goto(page.url())
      await signIn(other)
      await other.close()
      const next = await page.context().newPage()
      await next.goto(page.url())
      await next.getByLabel('Read-only token').waitFor()
      await page.getByRole('button', { name: 'Forget token' }).click()
      await page.getByText('This tab has forgotten your token.').waitFor()
      assert.equal(await page.evaluate('sessionStorage.length'), 0)
      await page.goBack()
      await page.getByLabel('Read-only token').waitFor()
    })
  })

  test('reads why another secret is no token, and the secret is not sent', async () => {
    await visit(async (page) => {
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      const field = page.getByLabel('Read-only token')
      for (const [secret, advice] of [
        [console.gateway.account.key, 'This is a key for model requests'],
        [console.tokens.viewer, 'This is an admin token'],
        ['hello', 'begins with ro_'],
        [token.slice(0, -1), 'not complete'],
      ] as const) {
        await field.fill(secret)
        await page.getByText(advice).waitFor()
        assert.ok(await page.getByRole('button', { name: 'Show my account' }).isDisabled())
        await field.press('Enter')
      }
      assert.deepEqual(
        asked.filter((url) => url.includes('/v1/')),
        [],
      )
      await field.fill(`ro_${'A'.repeat(49)}`)
      await page.getByRole('button', { name: 'Show my account' }).click()
      await page.getByText('This token is not valid').waitFor()
    })
  })

  test('comes back to the sign-in when the token is revoked, and reads why', async () => {
    const { context, account } = console.gateway
    const made = await createReaderToken(context, { account: account.id, name: 'short' })
    await visit(async (page) => {
      await signIn(page, made.secret)
      // The overview has read all its figures.
      await page.getByRole('list', { name: 'Spend by key' }).waitFor()
      await page.getByRole('list', { name: 'Spend by model' }).waitFor()
      await revokeKey(context, { kind: 'reader', id: made.key.id })
      await console.gateway.app.refresh()
      await page.getByRole('button', { name: 'Read the figures again' }).click()
      await page.getByText('Your token is no longer accepted').waitFor()
      assert.equal(await page.evaluate('sessionStorage.length'), 0)
    })
  })

  test('sees the money and the limits of the API, and a suspended account too', async () => {
    const { context, account } = console.gateway
    const shown = await read<{
      readonly name: string
      readonly balance: string
      readonly limits: readonly { readonly limit_usd: number; readonly resets_at: string }[]
    }>('/account')
    try {
      await visit(
        async (page) => {
          await signIn(page)
          await page.getByRole('heading', { level: 1, name: shown.name }).waitFor()
          await page
            .locator(`[data-tip="${exact(shown.balance)} exactly"]`)
            .first()
            .waitFor()
          await page.getByText(`of $${String(shown.limits[0]?.limit_usd)}.00 left`).waitFor()
          // Midnight in UTC is nine in the morning in Tokyo.
          await page.getByText('09:00').waitFor()
          await page.getByText('00:00 UTC)').waitFor()
          await setAccountStatus(context, { account: account.id, status: 'suspended' })
          await console.gateway.app.refresh()
          await page.getByRole('button', { name: 'Read the figures again' }).click()
          await page.getByText('This account is suspended').waitFor()
        },
        { zone: 'Asia/Tokyo' },
      )
    } finally {
      await setAccountStatus(context, { account: account.id, status: 'active' })
      await console.gateway.app.refresh()
    }
  })

  test('sees the spend by day, model and key as the API has it', async () => {
    const byModel = (await read<{ days: readonly Line[] }>('/days?by=model')).days
    const byKey = (await read<{ days: readonly Line[] }>('/days?by=key')).days
    assert.ok(byModel.length > 10)
    await visit(async (page) => {
      await signIn(page)
      const chart = page.getByRole('figure', { name: 'Spend by day and model' })
      await chart.getByRole('button', { name: 'Show as table' }).click()
      const rows = await chart.getByRole('row').allInnerTexts()
      const [head = '', ...days] = rows.map((row) => row.split('\t').map((cell) => cell.trim()))
      assert.equal(days.length, 30)
      const names = new Set(byModel.map(({ model }) => model))
      assert.deepEqual(new Set(head.slice(1)), names)
      for (const { day, model, cost } of byModel) {
        const row = days.find(([text = '']) => isDay(text, day))
        assert.equal(row?.[head.indexOf(model)], exact(cost), `${day} ${model}`)
      }
      const cells = days.flatMap((row) => row.slice(1))
      const shown = cells.map((cell) => cell.replace(/[$,]/g, ''))
      assert.equal(sum(shown), sum(byModel.map(({ cost }) => cost)))
      for (const [list, lines, nameOf] of [
        ['Spend by model', byModel, ({ model }: Line) => model],
        ['Spend by key', byKey, ({ key }: Line) => key],
      ] as const) {
        const bars = page.getByRole('list', { name: list })
        for (const name of new Set(lines.map(nameOf))) {
          const total = sum(lines.filter((line) => nameOf(line) === name).map(({ cost }) => cost))
          const bar = bars.getByRole('listitem').filter({ hasText: name }).first()
          const value = await bar.locator('data').last().getAttribute('value')
          assert.equal(parseUsd(value ?? ''), total, name)
        }
      }
      const picker = page.getByRole('group', { name: 'Period (UTC)' })
      await picker.getByRole('button').first().click()
      await page.getByRole('button', { name: 'Last 7 days' }).click()
      await page.waitForURL(/range=7d/)
      await chart.getByRole('row').nth(7).waitFor()
      assert.equal(await chart.getByRole('row').count(), 8)
    })
  })

  test('finds what cost most yesterday in two clicks, and by a click on a day of the chart', async () => {
    const { days } = await read<{ days: readonly Line[] }>('/days')
    const yesterday = new Date(console.gateway.context.clock.now() - 86_400_000)
      .toISOString()
      .slice(0, 10)
    assert.ok(days.some(({ day }) => day === yesterday))
    const dearest = await readDearest(yesterday)
    await visit(async (page) => {
      await signIn(page)
      const clicks = await countClicks(page)
      await page.getByRole('link', { name: 'What cost most yesterday' }).click()
      assert.deepEqual(await shownCosts(page, dearest.length), dearest)
      assert.ok((await clicks()) <= 2)
      assert.match(page.url(), /range=yesterday&sort=cost/)
      await openView(page, 'Overview')
      const plot = page.getByRole('figure', { name: 'Spend by day and model' }).locator('.u-over')
      await plot.waitFor()
      const { width = 0, height = 0 } = (await plot.boundingBox()) ?? {}
      // The last of 30 bars is today's, the one before yesterday's.
      await plot.click({ position: { x: (width * 28.5) / 30, y: height / 2 } })
      await page.waitForURL(new RegExp(`from=${yesterday}&to=${yesterday}`))
      assert.deepEqual(await shownCosts(page, dearest.length), dearest)
      // A click on the head leads to the usual order and back.
      await page.getByRole('button', { name: 'Cost' }).click()
      await page.waitForURL((url) => !url.search.includes('sort='))
      await page.getByRole('button', { name: 'Cost' }).click()
      await page.waitForURL(/sort=cost/)
    })
  })

  test('finds a request and sees its cost explained, at an address that can be shared', async () => {
    const { items } = await read<{
      items: readonly { readonly id: string; readonly model: string; readonly cost: string }[]
    }>('/requests?outcome=completed&limit=200')
    const ofModel = (name: string) => items.filter(({ model }) => model === name)
    const model = items.find((item) => ofModel(item.model).length > 5)?.model ?? ''
    const wanted = ofModel(model)
    const request = wanted.find(({ cost }) => cost !== '0')
    assert.ok(request !== undefined)
    const explained = await read<{
      bill: { parts: readonly { lines: readonly { count: number; amount_usd: string }[] }[] }
    }>(`/requests/${request.id}`)
    await visit(async (page) => {
      await signIn(page)
      await openView(page, 'Requests')
      await choose(page.getByLabel('Model', { exact: true }), model)
      await choose(page.getByLabel('Outcome', { exact: true }), 'Completed')
      await page.waitForURL(/model=.*outcome=completed/)
      const table = page.getByRole('table', { name: 'Requests of the account' })
      await table.getByRole('row').nth(Math.min(wanted.length, 50)).waitFor()
      await page.getByLabel('Request id', { exact: true }).fill(request.id)
      await page.getByRole('button', { name: 'Open' }).click()
      const dialog = page.getByRole('dialog', { name: 'Request' })
      await dialog.getByText('You got the whole answer.').waitFor()
      const bill = dialog.getByRole('region', { name: 'Cost of the request' })
      for (const { count, amount_usd: amount } of explained.bill.parts.flatMap(
        ({ lines }) => lines,
      ))
        await bill
          .getByRole('row')
          .filter({ hasText: count.toLocaleString('en-US') })
          .filter({ hasText: exact(amount) })
          .first()
          .waitFor()
      const total = bill.getByRole('row', { name: /^Cost / })
      assert.ok((await total.innerText()).endsWith(exact(request.cost)))
      const shared = page.url()
      assert.ok(shared.includes(request.id) && !shared.includes('ro_'), shared)
      await page.goto(shared)
      await dialog.getByText(request.id).waitFor()
      await dialog.getByRole('button', { name: 'Close' }).click()
      assert.ok(!page.url().includes(request.id))
      await page.getByLabel('Request id', { exact: true }).fill('ex_unknown')
      await page.getByRole('button', { name: 'Open' }).click()
      await dialog.getByText('There is no request ex_unknown').waitFor()
    })
  })

  test("looks at last month's statement in three clicks, and saves it as the API gives it", async () => {
    const names = await read<{ readonly name: string }>('/account')
    await visit(async (page) => {
      await signIn(page)
      const clicks = await countClicks(page)
      await openView(page, 'Statement')
      await page.getByRole('button', { name: 'Last month' }).click()
      await page.waitForURL(/range=lastMonth/)
      const now = new Date(console.gateway.context.clock.now())
      const dayOf = (month: number, day: number): string =>
        new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + month, day))
          .toISOString()
          .slice(0, 10)
      const [from, to] = [dayOf(-1, 1), dayOf(0, 0)]
      const figures = await read<Readonly<Record<string, string | number>>>(
        `/statement/figures?from=${from}&to=${to}`,
      )
      for (const name of ['opening_balance', 'charged', 'credits', 'closing_balance'])
        await page.locator(`.figure data[value="${figures[name]}"]`).first().waitFor()
      await page.getByRole('table', { name: 'Statement' }).getByRole('row').nth(1).waitFor()
      for (const format of ['csv', 'json'] as const) {
        const saved = await download(page, format.toUpperCase())
        assert.ok(format === 'json' || (await clicks()) <= 3)
        assert.equal(saved.suggestedFilename(), `statement-${names.name}-${from}-${to}.${format}`)
        const headers = { authorization: `Bearer ${token}` }
        const query = `from=${from}&to=${to}&format=${format}`
        const answer = await send(`${console.gateway.url}/v1/usage/statement?${query}`, { headers })
        const text = await readFile(await saved.path(), 'utf8')
        assert.ok(text.length > 1_000)
        assert.equal(text, answer.text)
        await page.getByText(`Saved as ${saved.suggestedFilename()}.`).waitFor()
      }
    })
  })
})

describe('signed heads', () => {
  test('are shown and saved below the statement, once an hour is sealed', async () => {
    await sealEndedHours(console.gateway.context)
    const { items } = await read<{ items: readonly { hash: string; key: string }[] }>('/proofs')
    const { hash = '', key = '' } = items[0] ?? {}
    await visit(async (page) => {
      await signIn(page)
      await openView(page, 'Statement')
      const row = page.getByRole('table', { name: 'Signed heads' }).getByRole('row').nth(1)
      await row.getByText(hash.slice(0, 12)).waitFor()
      await row.getByText(key, { exact: true }).waitFor()
      const saved = await download(page, 'Save')
      const headers = { authorization: `Bearer ${token}` }
      const answer = await send(`${console.gateway.url}/v1/usage/proofs?limit=1000`, { headers })
      assert.equal(await readFile(await saved.path(), 'utf8'), answer.text)
    })
  })
})

/** The exact costs of the requests of a day, the largest first. */
async function readDearest(day: string): Promise<readonly string[]> {
  const { items } = await read<{ items: readonly { readonly cost: string }[] }>(
    `/requests?from=${day}&to=${day}&limit=1000`,
  )
  const sorted = items.toSorted((one, other) => Number(other.cost) - Number(one.cost))
  assert.ok(sorted.length > 2 && sorted[0]?.cost !== sorted[1]?.cost)
  return sorted.slice(0, 50).map(({ cost }) => cost)
}

async function shownCosts(page: Page, count: number): Promise<readonly (string | null)[]> {
  const costs = page
    .getByRole('table', { name: 'Requests of the account' })
    .locator('[data-name=Cost] data')
  await costs.nth(count - 1).waitFor()
  await page.getByRole('columnheader', { name: 'Cost' }).and(page.locator('[aria-sort]')).waitFor()
  return Promise.all((await costs.all()).map((cost) => cost.getAttribute('value')))
}

/** Whether a day as a reader sees it is this UTC day. */
function isDay(text: string, day: string): boolean {
  return Date.parse(`${text} UTC`) === Date.parse(day)
}

async function download(page: Page, name: string): Promise<Download> {
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name }).click(),
  ])
  return saved
}

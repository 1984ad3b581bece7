/** The pages of requests, used by clicking in a browser; what they show and do agrees with the store. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { OperatorRole } from '../../src/access/key.ts'
import { newId } from '../../src/base/id.ts'
import { saveFreeExchanges, type FreeExchangeRow } from '../../src/ledger/free-exchange-store.ts'
import { choose } from '../support/console/choose.ts'
import { countClicks } from '../support/console/clicks.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { checkAccessibility, checkFitsWindow } from '../support/console/look.ts'
import { eventually } from '../support/eventually.ts'
import { post } from '../support/http-client.ts'
import { listRequests, recentActions, showAccount, showRequest } from '../support/operations.ts'
import { variants } from '../support/variants.ts'

interface Look {
  readonly role?: OperatorRole
  readonly width?: 'narrow' | 'wide'
  readonly theme?: 'light' | 'dark'
  readonly allowed?: readonly RegExp[]
}

type Line = Awaited<ReturnType<typeof listRequests>>['items'][number]

/** As the gateway records it; it was not charged. */
const refused: Omit<FreeExchangeRow, 'accountId' | 'exchangeId' | 'startedAtMs' | 'endedAtMs'> = {
  keyId: 'key_1',
  vendor: 'openai',
  model: 'gpt-6.1-terra',
  operation: 'chat.completions.create',
  channel: undefined,
  ending: 'not_admitted',
  status: 429,
  code: 'ledger.monthly_limit_reached',
  askedModel: undefined,
  vendorRequestId: undefined,
  attempts: [],
  client: 'curl',
  address: '',
  label: '',
  standsFor: 1,
}

const at = (atMs: number) => ({
  exchangeId: newId('ex', atMs),
  startedAtMs: atMs,
  endedAtMs: atMs,
})

describe('the pages of requests', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 400 })
  })
  after(() => console.close())

  const visit = (
    path: string,
    work: (page: Page) => Promise<void>,
    look: Look = {},
  ): Promise<void> => console.withConsole({ path, ...look }, work)

  async function find(fits: (line: Line) => boolean): Promise<Line> {
    const { items } = await listRequests(console.gateway.context, { limit: 1_000 })
    const found = items.find(fits)
    assert.ok(found !== undefined, 'the small store has no such request')
    return found
  }

  /** Returns the id of a request that has its record. */
  async function ask(fields: object = {}): Promise<string> {
    const { url, account } = console.gateway
    const answer = await post(`${url}/openai/v1/chat/completions`, account.key, {
      model: 'gpt-6.1-terra',
      messages: [{ role: 'user', content: 'Hello' }],
      ...fields,
    })
    assert.equal(answer.status, 200, answer.text)
    return String(answer.headers['x-turnpike-request-id'])
  }

  const rowLink = (page: Page, id: string) => page.locator(`a[href$="/requests/${id}"]`)
  const rows = (page: Page) => page.getByRole('table', { name: 'Requests' }).getByRole('row')

  test('a request appears on top while the list is open, and waits while it is paused', () =>
    visit('/requests', async (page) => {
      await rows(page).nth(1).waitFor()
      const first = await ask()
      await rowLink(page, first).waitFor()
      assert.ok((await rows(page).nth(1).innerHTML()).includes(first))
      await page.getByRole('button', { name: 'Pause' }).click()
      const second = await ask()
      await page.getByRole('button', { name: '1 new' }).waitFor()
      assert.equal(await rowLink(page, second).count(), 0)
      await page.getByRole('button', { name: '1 new' }).click()
      await rowLink(page, second).waitFor()
      assert.ok((await rows(page).nth(1).innerHTML()).includes(second))
      const third = await ask()
      await page.getByRole('button', { name: '1 new' }).waitFor()
      await page.getByRole('button', { name: 'Continue' }).click()
      await rowLink(page, third).waitFor()
    }))

  test('a request that does not fit the filter does not appear', () =>
    visit('/requests?model=gpt-6.1-terra&status=2xx', async (page) => {
      await rows(page).nth(1).waitFor()
      const other = await ask({ model: 'gpt-6.2-sol' })
      const fitting = await ask()
      await rowLink(page, fitting).waitFor()
      assert.equal(await rowLink(page, other).count(), 0)
    }))

  test('filters by account and status, which the address keeps', () =>
    visit('/requests', async (page) => {
      await rows(page).nth(1).waitFor()
      await page.getByLabel('Account').fill('lumen-labs')
      await page.getByLabel('Account').press('Enter')
      await page.getByLabel('Status').fill('400')
      await page.getByLabel('Status').press('Enter')
      const { items } = await listRequests(console.gateway.context, {
        account: 'lumen-labs',
        status: 400,
      })
      assert.ok(items.length > 0)
      await page.getByText(`${items.length} ${items.length === 1 ? 'row' : 'rows'}`).waitFor()
      for (const { id } of items) assert.equal(await rowLink(page, id).count(), 1)
      assert.match(page.url(), /account=lumen-labs/)
      await page.reload()
      await page.getByText(`${items.length} ${items.length === 1 ? 'row' : 'rows'}`).waitFor()
      await page.getByRole('button', { name: 'Clear all' }).click()
      await page.getByText('50 rows shown').waitFor()
    }))

  test('finds the requests of a period, page by page', () =>
    visit('/requests', async (page) => {
      await rows(page).nth(1).waitFor()
      await page.getByRole('button', { name: /^Period/ }).click()
      const picker = page.getByRole('dialog', { name: 'Period' })
      await picker.getByLabel('From').fill('2020-01-01')
      await picker.getByRole('button', { name: 'Show this period' }).click()
      await page.getByText('This list stays as it is').waitFor()
      await page.getByText('50 rows shown').waitFor()
      await page.getByRole('button', { name: 'Show more' }).click()
      await page.getByText('100 rows shown').waitFor()
      assert.equal(new URL(page.url()).searchParams.get('from'), '2020-01-01T00:00:00.000Z')
    }))

  test('says what to do where an account does not exist or nothing fits', () =>
    visit(
      '/requests?account=none-such',
      async (page) => {
        await page.getByText('There is no account none-such').waitFor()
        await page.goto(page.url().replace(/account=.*/, 'model=none-such'))
        await page.getByText('No request fits this filter.').waitFor()
        await page.getByRole('link', { name: 'Clear the filter' }).click()
        await rows(page).nth(1).waitFor()
      },
      { allowed: [/status of 404/] },
    ))

  test('says why the vendor refused a request, in the list, on its page and in the file', async () => {
    const { url, account, context } = console.gateway
    const prompt = 'canary [[sandbox: status=400; type=invalid_request_error; code=invalid_value]]'
    const messages = [{ role: 'user', content: prompt }]
    const body = { model: 'gpt-6.1-terra', messages }
    const answer = await post(`${url}/openai/v1/chat/completions`, account.key, body)
    assert.equal(answer.status, 400, answer.text)
    const id = String(answer.headers['x-turnpike-request-id'])
    await eventually(
      'the record',
      () => listRequests(context, { limit: 1 }),
      ({ items }) => items[0]?.id === id,
    )
    await visit('/requests', async (page) => {
      await rowLink(page, id).waitFor()
      const row = rows(page).filter({ has: rowLink(page, id) })
      await row.getByText('400 · invalid_value').waitFor()
      await rowLink(page, id).click()
      const told = page.getByRole('status').filter({ hasText: 'The vendor’s error' })
      await told
        .getByText('A field of the request has a value that the vendor does not take.')
        .waitFor()
      const words = 'The vendor’s error: type invalid_request_error, code invalid_value'
      assert.ok((await told.innerText()).includes(words), await told.innerText())
      assert.ok(!(await page.content()).includes('canary'))
      await checkAccessibility(page)
    })
    const token = account.token
    await console.withAccountPage({}, async (page) => {
      await page.getByLabel('Read-only token').fill(token)
      await page.getByRole('button', { name: 'Show my account' }).click()
      await page.getByRole('link', { name: 'Requests' }).click()
      await page.getByRole('row').filter({ hasText: 'invalid_value' }).getByRole('link').click()
      const dialog = page.getByRole('dialog')
      await dialog
        .getByText('A field of the request has a value that the vendor does not take.')
        .waitFor()
      await dialog.getByText('code invalid_value').waitFor()
    })
  })

  test('exports the filtered requests with all their facts', () =>
    visit('/requests?account=civic-data', async (page) => {
      await rows(page).nth(1).waitFor()
      const download = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Export CSV' }).click()
      const text = await readFile(await (await download).path(), 'utf8')
      const [heading = '', ...lines] = text.trimEnd().split('\r\n')
      const { items } = await listRequests(console.gateway.context, {
        account: 'civic-data',
        limit: 1_000,
      })
      const column = heading.split(',').indexOf('id')
      assert.deepEqual(
        lines.map((line) => line.split(',')[column]),
        items.map(({ id }) => id),
      )
    }))

  test('opens a request by the id of the vendor, with attempts, prices and margin', async () => {
    const line = await find((one) => one.attempt_count === 2 && Number(one.cost_usd) > 0)
    const shown = await showRequest(console.gateway.context, { request: line.id })
    await visit('/requests', async (page) => {
      await page
        .getByRole('searchbox', { name: /^Id of a request/ })
        .fill(shown.vendor_request_id ?? '')
      await page.getByRole('button', { name: 'Find' }).click()
      await page.getByRole('heading', { level: 1, name: line.model ?? '' }).waitFor()
      assert.ok((await page.getByText(line.id).count()) > 0)
      const attempts = page.getByRole('listitem').filter({ hasText: 'Started after' })
      assert.equal(await attempts.count(), 2)
      for (const [index, attempt] of shown.attempts.entries()) {
        const text = await attempts.nth(index).innerText()
        assert.ok(text.includes(attempt.channel) && text.includes(attempt.meaning), text)
      }
      assert.match(await attempts.first().innerText(), /Then another channel\./)
      const bill = page.getByRole('region', { name: 'Cost of the request' })
      assert.match(
        await bill.getByRole('row', { name: 'Cost' }).innerText(),
        new RegExp(`\\$${shown.cost_usd.replace('.', '\\.')}`),
      )
      await page.getByText(shown.bill?.calculation ?? '', { exact: true }).waitFor()
    })
  })

  test('explains a refusal with the meaning of its code', async () => {
    const line = await find(({ code }) => code === 'ledger.insufficient_balance')
    const shown = await showRequest(console.gateway.context, { request: line.id })
    await visit(`/requests/${line.id}`, async (page) => {
      await page.getByText(shown.explanation).waitFor()
      assert.equal(await page.getByText(shown.charge_explanation).count(), 2)
      const [words = ''] = (shown.error?.meaning ?? '').split('`')
      assert.equal(await page.getByText(words).count(), 1)
      await page.getByText('The gateway sent nothing to a vendor.', { exact: true }).waitFor()
    })
  })

  test('says that a request is not in the log', () =>
    visit(
      '/requests/ex_none',
      (page) => page.getByText('This request is not in the log.').waitFor(),
      { allowed: [/status of 404/] },
    ))

  test('refunds a part of a charge, once', async () => {
    const line = await find(
      (one) => one.account === 'sparrow-health' && Number(one.cost_usd) > 0.0001,
    )
    const { context } = console.gateway
    const before = await showAccount(context, { account: line.account_id })
    await visit(
      `/requests/${line.id}`,
      async (page) => {
        await page.getByRole('button', { name: 'Refund' }).click()
        const dialog = page.getByRole('dialog', { name: 'Refund this request' })
        await choose(dialog.getByLabel('Amount', { exact: true }), 'A part of it')
        await dialog.getByLabel('Amount in USD').fill('99999')
        await dialog.getByRole('button', { name: 'Give back $99,999.00' }).click()
        await dialog.getByText('must be at most the charge of the request').first().waitFor()
        await dialog.getByLabel('Amount in USD').fill('0.0001')
        await dialog.getByLabel('Reason').fill('=wrong language')
        await dialog.getByRole('button', { name: 'Give back $0.0001' }).click()
        await page.getByText('$0.0001 went back to sparrow-health.').waitFor()
        await page.getByText('=wrong language').waitFor()
        await page.getByRole('button', { name: 'Refund' }).waitFor({ state: 'detached' })
      },
      { allowed: [/status of 4\d\d/] },
    )
    const { refund } = await showRequest(context, { request: line.id })
    assert.deepEqual([refund?.amount_usd, refund?.reason], ['0.0001', '=wrong language'])
    const account = await showAccount(context, { account: line.account_id })
    assert.equal(
      (Number(account.balance_usd) - Number(before.balance_usd)).toFixed(9),
      '0.000100000',
    )
    const [action] = await recentActions(context, {})
    assert.equal(action?.action, 'account.refund')
  })

  test("tells in four clicks why an account's request failed yesterday", async () => {
    const { context, account } = console.gateway
    const midnight = new Date().setUTCHours(0, 0, 0, 0)
    await saveFreeExchanges(context.database, [
      { ...refused, accountId: account.id, ...at(midnight - 3_600_000) },
      { ...refused, accountId: account.id, ...at(midnight - 30 * 3_600_000) },
    ])
    await visit('/', async (page) => {
      const clicks = await countClicks(page)
      await page.getByRole('link', { name: 'Requests', exact: true }).click()
      const type = async (label: string, text: string): Promise<void> => {
        await page.getByLabel(label, { exact: true }).fill(text)
        await page.getByLabel(label, { exact: true }).press('Enter')
      }
      await type('Account', 'northwind-support')
      await type('Error code', 'ledger.monthly_limit_reached')
      await page.getByRole('button', { name: /^Period/ }).click()
      await page.getByRole('button', { name: 'Yesterday' }).click()
      await page.getByText('1 row', { exact: true }).waitFor()
      await rows(page).nth(1).getByRole('link').first().click()
      await page.getByRole('heading', { level: 2, name: 'Facts' }).waitFor()
      await page.getByText('ledger.monthly_limit_reached').first().waitFor()
      assert.ok((await clicks()) <= 4, `${await clicks()} clicks`)
    })
  })

  test('offers no refund to a viewer', async () => {
    const line = await find((one) => one.account === 'lumen-labs' && Number(one.cost_usd) > 0)
    const open = (role: OperatorRole, count: number): Promise<void> =>
      visit(
        `/requests/${line.id}`,
        async (page) => {
          await page.getByRole('heading', { name: 'Facts' }).waitFor()
          assert.equal(await page.getByRole('button', { name: 'Refund' }).count(), count)
        },
        { role },
      )
    await open('viewer', 0)
    await open('operator', 1)
  })

  const looks = [
    ['narrow', 'light'],
    ['wide', 'dark'],
  ] as const
  for (const [width, theme] of variants(looks, ([one]) => one === 'wide'))
    test(`can be read by everyone, ${theme}, and fits a ${width} window`, async () => {
      const charged = await find((one) => one.attempt_count === 2 && Number(one.cost_usd) > 0)
      const failed = await find(({ attempt_count: count, status }) => count === 2 && status === 502)
      for (const [path, last] of [
        ['/requests', '50 rows shown'],
        [`/requests/${charged.id}`, 'Facts'],
        [`/requests/${failed.id}`, 'Facts'],
      ] as const)
        await visit(
          path,
          async (page) => {
            await page.getByText(last, { exact: true }).waitFor()
            if (path !== `/requests/${failed.id}`) await page.getByRole('cell').first().waitFor()
            await checkAccessibility(page)
            await checkFitsWindow(page)
          },
          { width, theme },
        )
    })
})

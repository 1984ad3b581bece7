/**
 * The money on screen adds up: spend − refunds − own cost − lost attempts and checks − of unknown cost =
 * margin, exactly in the API, and as a person reads it on every page that shows it.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { parseUsd } from '../../src/base/money.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { post, send } from '../support/http-client.ts'
import { listRequests, showRequest } from '../support/operations.ts'
import { readStatement } from '../support/statement.ts'
import { checkAccessibility, checkFitsWindow, takePicture } from '../support/console/look.ts'

const terms = [
  'revenue_usd',
  'refunded_usd',
  'own_cost_usd',
  'estimated_cost_usd',
  'unknown_cost_revenue_usd',
] as const

type Row = Readonly<Record<(typeof terms)[number] | 'known_margin_usd', string>> &
  Readonly<Record<'input_tokens' | 'output_tokens' | 'total_tokens', number>>

type Line = Awaited<ReturnType<typeof listRequests>>['items'][number]

const names = [
  'Spend',
  'Refunds',
  'Own cost',
  'Lost attempts and checks',
  'Of unknown cost',
  'Margin',
]

function exact(usd: string): bigint {
  return parseUsd(usd) ?? 0n
}

function addsUp(row: Row, what: string): void {
  const [spend, ...costs] = terms.map((term) => exact(row[term]))
  const left = costs.reduce((sum, cost) => sum - cost, spend ?? 0n)
  assert.equal(exact(row.known_margin_usd), left, what)
}

describe('money', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 1_200 })
    // The reserve has no cost prices.
    const { sandbox, url, account } = console.gateway
    for (const channel of ['openai-main', 'openai-azure']) sandbox.faults.set(channel, 'error=529')
    const messages = [{ role: 'user', content: 'Hello' }]
    const body = { model: 'gpt-6.1-terra', messages }
    const answer = await post(`${url}/openai/v1/chat/completions`, account.key, body)
    assert.equal(answer.status, 200, answer.text)
    sandbox.faults.clear()
  })
  after(() => console.close())

  async function read<Answer>(path: string): Promise<Answer> {
    const headers = { authorization: `Bearer ${console.tokens.viewer}` }
    const answer = await send(`${console.gateway.adminUrl}/admin/v1${path}`, { headers })
    assert.equal(answer.status, 200, answer.text)
    return JSON.parse(answer.text) as Answer
  }

  const reportBy = async (by: string): Promise<readonly Row[]> =>
    (await read<{ readonly items: readonly Row[] }>(`/reports?by=${by}&limit=1000`)).items

  test('adds up exactly in each row of each report, and the rows to the total', async () => {
    const [total] = await reportBy('total')
    assert.ok(total !== undefined)
    addsUp(total, 'total')
    for (const term of terms.filter((each) => each !== 'estimated_cost_usd'))
      assert.notEqual(total[term], '0', `the store has no ${term}`)
    for (const by of ['day', 'account', 'key', 'model', 'channel', 'day,channel']) {
      const rows = await reportBy(by)
      assert.ok(rows.length > 1)
      for (const row of rows) addsUp(row, by)
      for (const term of [...terms, 'known_margin_usd'] as const) {
        const sum = rows.reduce((all, row) => all + exact(row[term]), 0n)
        assert.equal(sum, exact(total[term]), `${term} by ${by}`)
      }
    }
    const { today, yesterday } = await read<{ today: Row; yesterday: Row }>('/overview')
    addsUp(today, 'today')
    addsUp(yesterday, 'yesterday')
  })

  test('a token counts once, on the overview as on the page of its request', async () => {
    const { context } = console.gateway
    const items: Line[] = []
    for (let cursor: string | undefined; ;) {
      const page = await listRequests(context, {
        limit: 1_000,
        ...(cursor !== undefined && { cursor }),
      })
      items.push(...page.items)
      if (page.next_cursor === null) break
      cursor = page.next_cursor
    }
    const cached = items.filter(({ cache_tokens: count }) => count > 0)
    assert.ok(cached.some(({ vendor }) => vendor === 'openai') && cached.length > 3)
    for (const { id, total_tokens: total } of cached.slice(0, 20)) {
      const { tokens } = await showRequest(context, { request: id })
      assert.equal(
        total,
        Object.values(tokens).reduce((sum, count) => sum + count, 0),
        id,
      )
    }
    const [report] = await reportBy('total&from=2020-01-01')
    const shown = items.reduce((sum, { total_tokens: count }) => sum + count, 0)
    assert.equal(report?.total_tokens, shown)
  })

  /** Reads the equation of a page as a person does, in the unit of its last decimal. */
  async function checkShown(page: Page): Promise<void> {
    const card = page.getByRole('region', { name: 'From spend to margin' })
    const rows = card.locator('dl > div')
    await card.locator('data:not([value="0"])').first().waitFor()
    assert.deepEqual(await rows.locator('dt').allInnerTexts(), names)
    const texts = await rows.locator('data').allInnerTexts()
    const decimals = texts.map((text) => /\.(\d+)$/.exec(text)?.[1]?.length)
    assert.equal(new Set(decimals).size, 1, texts.join(' '))
    const [spend = 0, ...others] = texts.map((text) =>
      Number(text.replaceAll(/[^\d−]/g, '').replace('−', '-')),
    )
    const margin = others.pop()
    assert.equal(
      others.reduce((left, cost) => left - cost, spend),
      margin,
      texts.join(' '),
    )
    const exactly = await rows
      .locator('data')
      .evaluateAll((all) => all.map((one) => String(Reflect.get(one, 'value'))))
    const [first = 0n, ...costs] = exactly.map(exact)
    const last = costs.pop()
    assert.equal(
      costs.reduce((left, cost) => left - cost, first),
      last,
    )
  }

  const pages = [
    ['/', 'overview'],
    ['/reports', 'reports'],
    ['/channels/anthropic-main', 'channel'],
    ['/accounts/sparrow-health', 'account'],
  ] as const

  for (const [path, name] of pages)
    test(`adds up as it is shown: ${name}`, async () => {
      for (const width of ['narrow', 'middle', 'wide'] as const)
        await console.withConsole({ path, width }, async (page) => {
          await checkShown(page)
          await checkFitsWindow(page)
          if (width === 'wide') await checkAccessibility(page)
          await takePicture(page, `money-${name}`)
        })
    })

  test('a statement shows the figures of its period, and its lines page by page', async () => {
    const account = 'northwind-support'
    const { head, lines, end } = await readStatement(console.gateway.context, {
      account,
      from: '2020-01-01',
    })
    assert.ok(lines.length > 200, 'the account has more lines than a page')
    const path = `/accounts/${account}?tab=statement&from=2020-01-01`
    await console.withConsole({ path, width: 'middle' }, async (page) => {
      const figure = (label: string) =>
        page.locator('.figure').filter({ has: page.getByText(label, { exact: true }) })
      await figure('Charged').getByText(`${end.totals.requests} requests`).waitFor()
      for (const [label, usd] of [
        ['Opening balance', head.opening_balance],
        ['Charged', end.totals.charged],
        ['Refunds booked', end.totals.refunded],
        ['Closing balance', end.closing_balance],
      ] as const)
        assert.equal(await figure(label).locator('data').first().getAttribute('value'), usd, label)
      const rows = page.getByRole('table', { name: 'Statement' }).getByRole('row')
      const more = page.getByRole('button', { name: 'Show more' })
      await more.click()
      await more.waitFor({ state: 'detached' })
      assert.equal(await rows.count(), lines.length + 1)
      const balances = await rows
        .locator('td:last-child data')
        .evaluateAll((all) => all.map((one) => String(Reflect.get(one, 'value'))))
      assert.deepEqual(balances, lines.map(({ balance }) => balance).toReversed())
      await checkFitsWindow(page)
    })
  })
})

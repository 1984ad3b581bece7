/**
 * Takes the pictures of the console and of the account page: a small business whose figures come from a seed,
 * at a fixed time, in Chromium. Runs differ in ids and keys only.
 * Run: npm run pictures, or node site/take-pictures.ts [FOLDER]
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { systemClock, type Clock } from '../src/base/clock.ts'
import { words } from '../console/src/messages/en/account-words.ts'
import { models } from '../test/support/console/business.ts'
import { startCustomer } from '../test/support/console/customer-run.ts'
import { openConsole, type OpenConsole } from '../test/support/console/open-console.ts'
import { post } from '../test/support/http-client.ts'
import { listRequests } from '../test/support/operations.ts'

const [folder = join(import.meta.dirname, '..', 'docs', 'pictures')] = process.argv.slice(2)
/** A Friday afternoon: a day with many requests. */
const startMs = Date.parse('2026-11-20T16:40:00Z')
const offsetMs = startMs - systemClock.now()
const clock: Clock = { ...systemClock, now: () => systemClock.now() + offsetMs }
const account = 'northwind-support'

type Theme = 'light' | 'dark'

/** Opens a page at the fixed time, waits for what it must show, and takes its picture. */
async function takePicture(page: Page, name: string, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) await page.getByText(text).first().waitFor()
  await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' })
  process.stdout.write(`${name}.png\n`)
}

function visit(
  opened: OpenConsole,
  { path, theme = 'light' }: { readonly path: string; readonly theme?: Theme },
  work: (page: Page) => Promise<void>,
): Promise<void> {
  return opened.withConsole({ path: '/', theme }, async (page) => {
    await page.clock.install({ time: clock.now() })
    await page.goto(`${opened.gateway.adminUrl}/console${path}`)
    await work(page)
  })
}

/** The board of channels shows what this process has seen: first events after the usual times. */
async function sendRequests({ gateway }: OpenConsole): Promise<void> {
  for (let round = 0; round < 12; round++)
    await Promise.all(
      Object.entries(models).flatMap(([model, { vendor, firstEventMs }]) => {
        const path = vendor === 'openai' ? 'openai/v1/chat/completions' : 'anthropic/v1/messages'
        const messages = [{ role: 'user', content: `Summarise ticket ${round}.` }]
        const fields = { model, max_tokens: 200, stream: true, messages }
        const waitMs = Math.round(firstEventMs * (0.8 + (round % 4) * 0.15))
        return model.startsWith('text-embedding')
          ? []
          : post(`${gateway.url}/${path}`, gateway.account.key, fields, {
              'x-sandbox': `first_event_delay_ms=${waitMs}`,
            })
      }),
    )
}

async function pictureConsole(opened: OpenConsole): Promise<void> {
  const { items } = await listRequests(opened.gateway.context, { account, limit: 1_000 })
  const request = items.find(
    ({ attempt_count: count, cost_usd: cost }) => count > 1 && cost > '0.01',
  )
  const holder = items[0]?.account_id ?? ''
  for (const theme of ['light', 'dark'] as const)
    await visit(opened, { path: '/', theme }, (page) =>
      takePicture(page, `console-overview-${theme}`, 'From spend to margin'),
    )
  for (const [name, path, text] of [
    ['console-account', `/accounts/${holder}`, account],
    ['console-request', `/requests/${request?.id ?? ''}`, 'Attempts'],
    ['console-channels', '/channels', 'anthropic-main'],
  ] as const)
    await visit(opened, { path }, (page) => takePicture(page, name, text))
  await visit(opened, { path: '/models?tab=import' }, async (page) => {
    await page.getByLabel('Price list').setInputFiles({
      name: 'prices.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(priceList)),
    })
    await page.getByRole('button', { name: 'Show changes' }).click()
    await takePicture(page, 'console-prices', 'listed models change')
  })
}

/** The exact decimal; a division by a million is not. */
const ofOne = (usdPerMillion: number): number => Number(`${usdPerMillion}e-6`)

/** Prices in USD per million tokens, as a community list has them. */
function listed(input: number, output: number, cache: readonly number[]) {
  const [read = 0, write, longWrite] = cache
  return {
    input_cost_per_token: ofOne(input),
    output_cost_per_token: ofOne(output),
    cache_read_input_token_cost: ofOne(read),
    ...(write !== undefined && { cache_creation_input_token_cost: ofOne(write) }),
    ...(longWrite !== undefined && {
      cache_creation_input_token_cost_above_1hr: ofOne(longWrite),
    }),
  }
}

const priceList = {
  'claude-opus-5-5': listed(3.5, 17.5, [0.2, 5, 8]),
  'claude-sonnet-5-5': listed(2, 8, [0.1, 2.5, 4]),
  'claude-haiku-5-5': listed(0.12, 0.6, [0.01, 0.125, 0.2]),
  'gpt-6.2-sol': listed(1.8, 9, [0.1]),
  'gpt-6.1-terra': listed(1, 5, [0.04]),
}

/** The port of the gateway is another one in each run. */
const renameOrigin = `{
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode())
    texts.currentNode.data = texts.currentNode.data.replaceAll(location.origin, 'https://ai.acme.example')
}`

function pictureAccountPage(opened: OpenConsole): Promise<void> {
  return opened.withAccountPage({}, async (page) => {
    await page.clock.install({ time: clock.now() })
    await page.reload()
    await page.getByLabel('Read-only token').fill(opened.gateway.account.token)
    await page.getByRole('button', { name: 'Show my account' }).click()
    await page.locator('main canvas').first().waitFor()
    await takePicture(page, 'account-overview', 'Spend by key', 'Spend by model')
    await page.getByRole('link', { name: 'Set up', exact: true }).click()
    await page.getByText('In a terminal').waitFor()
    await page.evaluate(renameOrigin)
    await takePicture(page, 'account-set-up')
  })
}

/** A customer who needs no operator, in a store of their own. */
async function pictureCustomer(): Promise<void> {
  const customer = await startCustomer({ clock })
  try {
    await customer.run({
      language: 'en-GB',
      words,
      name: 'Northwind',
      email: 'ann@northwind.example',
      async onView(name, page) {
        await page.evaluate(renameOrigin)
        await takePicture(page, name)
      },
    })
  } finally {
    await customer.close()
  }
}

await mkdir(folder, { recursive: true })
const opened = await openConsole({
  clock,
  requests: 12_000,
  settings: {
    operator_name: 'Acme AI',
    operator_contact: 'mailto:help@acme.example',
    request_retention: '365d',
  },
})
try {
  await sendRequests(opened)
  await pictureConsole(opened)
  await pictureAccountPage(opened)
} finally {
  await opened.close()
}
await pictureCustomer()

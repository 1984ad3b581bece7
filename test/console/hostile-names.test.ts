/**
 * Names and texts that attack pages, from the Big List of Naughty Strings, in each place that takes them.
 * Every page shows them as text, exactly; no element, link or request comes from them. The browser of these
 * tests reports dialogs, messages on the console and requests to another origin by itself.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import { formulas, makeHostile, type HostileStore } from '../support/console/hostile-store.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { listRequests } from '../support/operations.ts'

/** The elements of the pages themselves. */
const ownElements =
  `a abbr article aside b body button canvas caption circle code data datalist dd details div dl dt em
  fieldset figcaption figure footer form h1 h2 h3 h4 head header hr html i img input kbd label legend li
  line link main meta nav noscript ol optgroup option output p path polygon polyline pre rect script section
  select small span strong sub summary sup svg table tbody td template textarea tfoot th thead time title
  tr ul`.split(/\s+/)

/** One line for each thing that only a name can have made. */
const findInjected = `[...document.querySelectorAll('*')].flatMap((element) => {
  const own = ${JSON.stringify(ownElements)}
  const found = own.includes(element.localName) ? [] : [element.outerHTML.slice(0, 200)]
  for (const { name, value } of element.attributes)
    if (name.startsWith('on') || name === 'srcdoc') found.push(name + '=' + value)
  for (const address of [element.href, element.src, element.action])
    if (typeof address === 'string' && address !== '' && new URL(address).origin !== location.origin)
      found.push(address)
  if (element.localName === 'img' && !/[.]svg$/.test(element.src)) found.push(element.outerHTML)
  return found
})`

/** Of the expected texts those that are no text node: what the page shows, before it is laid out. */
const findMissing = `(expected) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const texts = new Set()
  while (walker.nextNode()) texts.add(walker.currentNode.nodeValue)
  return expected.filter((text) => !texts.has(text))
}`

/** Resolves once a list has more, or everything expected is shown. A page may have several lists. */
const waitUntilRead = `(expected) => new Promise((resolve) => {
  const look = () => {
    const hasMore = [...document.querySelectorAll('button')].some((one) => one.textContent === 'Show more')
    if (hasMore || (${findMissing})(expected).length === 0) resolve()
  }
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true })
  setTimeout(resolve, 30_000)
  look()
})`

async function checkHarmless(page: Page): Promise<void> {
  assert.deepEqual(await page.evaluate<string[]>(findInjected), [], page.url())
}

async function save(page: Page, button: string): Promise<string> {
  const download = page.waitForEvent('download')
  const name = { name: button }
  await page.getByRole('button', name).or(page.getByRole('link', name)).first().click()
  return readFile(await (await download).path(), 'utf8')
}

/** As docs/reports.md says: what a spreadsheet would run begins with an apostrophe, and numbers stay. */
function checkFile(text: string, names: readonly string[]): void {
  const [heading = [], ...rows] = z.array(z.array(z.string())).parse(parse(text))
  assert.ok(heading.length > 2 && rows.length > 0, text.slice(0, 200))
  const cells = new Set(rows.flat())
  const running = [...cells].filter(
    (cell) => /^\s*[=+\-@＝＋－＠\t\r]/.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell),
  )
  assert.deepEqual(running, [])
  for (const name of names) assert.ok(cells.has(`'${name}`), `${name} is not in the file`)
}

/** Reads the lists of the page to their end. */
async function checkShown(page: Page, expected: readonly string[]): Promise<void> {
  const texts = JSON.stringify(expected)
  const rows = page.getByRole('row')
  const more = page.getByRole('button', { name: 'Show more' })
  do {
    if ((await more.count()) > 0) {
      const count = await rows.count()
      await more.click()
      await rows.nth(count).waitFor()
    }
    await page.evaluate(`(${waitUntilRead})(${texts})`)
  } while ((await more.count()) > 0)
  assert.deepEqual(
    await page.evaluate<string[]>(`(${findMissing})(${texts})`),
    [],
    `${page.url()} does not show these`,
  )
  await checkHarmless(page)
}

describe('names that attack pages', () => {
  let console: OpenConsole
  let hostile: HostileStore
  before(async () => {
    console = await openConsole({ requests: 60 })
    hostile = await makeHostile(console.gateway)
    assert.ok(hostile.names.length > 300, String(hostile.names.length))
    assert.ok(hostile.references.length > 400, String(hostile.references.length))
  })
  after(() => console.close())

  test('are text in the lists of the console', () =>
    console.withConsole({ path: '/' }, async (page) => {
      const { oddest, asked } = hostile
      const lists: readonly (readonly [path: string, shown: readonly string[]])[] = [
        ['/accounts', oddest],
        ['/requests', asked],
        ['/reports?by=account,key&period=7d', asked],
        ['/alerts?tab=targets', oddest],
        ['/audit?tab=actions&action=alert', oddest.slice(0, 1)],
        ['/settings?tab=access', oddest.slice(0, 1)],
      ]
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      await checkHarmless(page)
      for (const [path, shown] of lists) {
        await page.goto(`${console.gateway.adminUrl}/console${path}`)
        await checkShown(page, shown)
      }
    }))

  test('are text on the pages of one account and one request', () =>
    console.withConsole({ path: '/' }, async (page) => {
      const { names, references, oddest, holder, accountIds } = hostile
      const [name = ''] = oddest
      const own = String(accountIds.get(name))
      const { items } = await listRequests(console.gateway.context, { account: own })
      const pages: readonly (readonly [path: string, shown: readonly string[]])[] = [
        [`/accounts/${holder.id}?tab=keys`, names],
        [`/accounts/${holder.id}?tab=statement`, references],
        [`/accounts/${own}?tab=requests`, [name]],
        [`/accounts/${own}?tab=alerts`, [name]],
        [`/accounts/${own}?tab=details`, [name]],
        [`/requests/${String(items[0]?.id)}`, [name]],
      ]
      for (const [path, shown] of pages) {
        await page.goto(`${console.gateway.adminUrl}/console${path}`)
        await checkShown(page, shown)
      }
    }))

  test('are text as filters in an address', () =>
    console.withConsole(
      { path: '/', allowed: [/status of 40[04]/, /There is no channel/] },
      async (page) => {
        const path = (text: string): readonly string[] => {
          const word = encodeURIComponent(text)
          return [
            `/accounts?q=${word}`,
            `/requests?account=${word}`,
            `/reports?account=${word}`,
            `/audit?tab=actions&actor=${word}`,
            `/models?name=${word}&tab=${word}`,
            `/channels/${word}`,
          ]
        }
        for (const each of [...hostile.oddest.slice(0, 2), 'javascript:alert(1)'].flatMap(path)) {
          await page.goto(`${console.gateway.adminUrl}/console${each}`)
          await page.getByRole('heading', { level: 1 }).waitFor()
          await page.getByText('Loading…').first().waitFor({ state: 'detached' })
          await checkHarmless(page)
        }
      },
    ))

  test('are text on the account page', () =>
    console.withAccountPage({}, async (page) => {
      await page.getByLabel('Read-only token').fill(hostile.holder.token)
      await page.getByRole('button', { name: 'Show my account' }).click()
      const views = page.getByRole('navigation', { name: 'Views' })
      await views.waitFor()
      await checkHarmless(page)
      for (const [view, shown] of [
        ['Keys', hostile.names],
        ['Requests', []],
        ['Statement', []],
        ['Set up', []],
      ] as const) {
        await views.getByRole('link', { name: view }).click()
        await page.getByRole('heading', { level: 2 }).first().waitFor()
        await checkShown(page, shown)
      }
    }))

  test('are guarded in every CSV file of the console', () =>
    console.withConsole({ path: '/' }, async (page) => {
      const files: readonly (readonly [path: string, names: readonly string[]])[] = [
        ['/accounts', formulas],
        ['/requests', formulas],
        ['/reports?by=account,key&period=7d', formulas],
        ['/audit?tab=actions&action=account', []],
        ['/models', []],
        ['/models?tab=prices', []],
        ['/channels/anthropic-eu', []],
        ['/reconciliation', []],
      ]
      for (const [path, names] of files) {
        await page.goto(`${console.gateway.adminUrl}/console${path}`)
        if (path === '/reconciliation')
          await page.getByRole('button', { name: 'Show the charges' }).click()
        checkFile(await save(page, 'Export CSV'), names)
      }
      await page.goto(
        `${console.gateway.adminUrl}/console/accounts/${hostile.holder.id}?tab=statement`,
      )
      const address = await page
        .getByRole('link', { name: 'CSV', exact: true })
        .getAttribute('href')
      const statement = await page.request.get(new URL(String(address), page.url()).href)
      checkFile(await statement.text(), formulas)
    }))

  test('are guarded in every CSV file of the account page and its API', () =>
    console.withAccountPage({}, async (page) => {
      const token = hostile.holder.token
      await page.getByLabel('Read-only token').fill(token)
      await page.getByRole('button', { name: 'Show my account' }).click()
      const views = page.getByRole('navigation', { name: 'Views' })
      await views.getByRole('link', { name: 'Keys' }).click()
      checkFile(await save(page, 'Export CSV'), formulas)
      await views.getByRole('link', { name: 'Prices' }).click()
      checkFile(await save(page, 'Export CSV'), [])
      await views.getByRole('link', { name: 'Requests' }).click()
      checkFile(await save(page, 'Export CSV'), [hostile.holderKey])
      await views.getByRole('link', { name: 'Statement' }).click()
      checkFile(await save(page, 'CSV'), formulas)
      const answer = await page.request.get(
        `${console.gateway.url}/v1/usage/statement?format=csv`,
        { headers: { authorization: `Bearer ${token}` } },
      )
      checkFile(await answer.text(), formulas)
    }))
})

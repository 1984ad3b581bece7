/**
 * The parts of docs/ that are made from the program are up to date, every part has its place, the worked
 * example of docs/money.md has the amounts that the program computes, and SECURITY.md names real tests.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { formatUsd } from '../src/base/money.ts'
import { charge, quote } from '../src/metering/charge.ts'
import { parsePrices, type PriceForm } from '../src/metering/price-form.ts'
import { formatPage } from '../site/format.ts'
import { buildParts, fillPage, partsOf } from '../site/reference.ts'

const folder = join(import.meta.dirname, '..', 'docs')
const pages = readdirSync(folder)
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ path: join(folder, name), text: readFileSync(join(folder, name), 'utf8') }))

test('settings, errors, commands and endpoints in docs/ are those of the program; npm run docs:write writes them', async () => {
  const parts = buildParts()
  for (const { path, text } of pages.filter((page) => partsOf(page.text).length > 0)) {
    assert.equal(text, await formatPage(path, fillPage(text, parts)), path)
  }
})

test('each part is on one page', () => {
  assert.deepEqual(
    pages.flatMap(({ text }) => partsOf(text)).toSorted(),
    [...buildParts().keys()].toSorted(),
  )
})

test('a page that names a part which does not exist is a mistake', () => {
  const page = '<!-- made from the program: nonsense -->\n<!-- end -->'
  assert.throws(() => fillPage(page, buildParts()), /There is no part nonsense/)
})

test('the tests that SECURITY.md names are there', () => {
  const root = join(folder, '..')
  const named = readFileSync(join(root, 'SECURITY.md'), 'utf8').matchAll(/`(test\/[^`]+)`/g)
  const paths = [...named].map(([, path = '']) => path)
  assert.ok(paths.length > 20)
  assert.deepEqual(
    paths.filter((path) => !existsSync(join(root, path))),
    [],
  )
})

test('the amounts of the worked example are those of the program', () => {
  const page = readFileSync(join(folder, 'money.md'), 'utf8')
  const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(page) ?? []
  const form = (parse(yaml) as { readonly 'large-1': { readonly price: PriceForm } })['large-1']
    .price
  const prices = parsePrices(form)
  const rows = [...page.matchAll(/^\| (\w+) +\| (?:([\d,]+) × [\d.]+)? *\| ([\d.]+) +\|$/gm)]
  const [likely, most, charged] = [rows.slice(0, 3), rows.slice(3, 6), rows.slice(6)].map(
    (each) => ({
      counts: new Map(
        each.map(([, name = '', count = '']) => [name, Number(count.replace(',', ''))]),
      ),
      usd: each.at(-1)?.[3],
    }),
  )
  for (const cost of [likely, most])
    assert.equal(
      formatUsd(
        quote({
          prices,
          format: 'messages',
          inputTokens: cost?.counts.get('input') ?? 0,
          maxOutputTokens: cost?.counts.get('output') ?? 0,
          choiceCount: 1,
          multiplierPpm: 1_000_000,
        }),
      ),
      cost?.usd,
    )
  const usage = {
    parts: [{ promptTokens: 1_600, counts: Object.fromEntries(charged?.counts ?? []) }],
    reported: { inputTokens: 0, outputTokens: 0, cacheTokens: 0 },
  }
  const { amountPicos, bill } = charge(usage, {
    prices,
    pricesFor: () => prices,
    format: 'messages',
    requestedModel: 'large-1',
    upstreamModel: undefined,
    multiplierPpm: 1_000_000,
  })
  assert.equal(formatUsd(amountPicos), charged?.usd)
  const lines = bill.parts.flatMap((part) => part.lines)
  assert.deepEqual(
    new Map(lines.map((line) => [line.usageClass, formatUsd(line.amountPicos)])),
    new Map(rows.slice(6, -1).map(([, name, , usd]) => [name, usd])),
  )
})

/** What /metrics shows after a bit of everything, and its names and units. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Scenario, scenario } from '../support/scenario.ts'
import { doOfEverything, openScraper, readScrape } from './scrape.ts'
import { runPromtool } from './promtool.ts'

let gateway: Scenario
let text: string
before(async () => {
  gateway = await scenario({ account: { balance_usd: '10' } })
  await doOfEverything(gateway)
  const scrape = await openScraper(gateway)
  text = await scrape()
})
after(() => gateway.close())

/** The sum of the series of one metric that have these labels. */
function sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
  const pattern = new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm')
  let total = 0
  for (const [, found = '', value] of text.matchAll(pattern))
    if (Object.entries(labels).every(([label, wanted]) => found.includes(`${label}="${wanted}"`)))
      total += Number(value)
  return total
}

test('promtool accepts the names, types and units of all metrics', async () => {
  const { code, output } = await runPromtool(['check', 'metrics'], text)
  assert.equal(code, 0, output)
  assert.equal(output, '')
})

test('counts requests by model, operation, ending and refusal code, and their tokens by class', () => {
  const messages = { vendor: 'alpha', model: 'large-1', operation: 'messages.create' }
  const completed = { ...messages, ending: 'completed', status: '200' }
  assert.equal(sum('turnpike_exchanges_total', completed), 8)
  assert.equal(sum('turnpike_exchange_duration_seconds_count', messages), 8)
  assert.equal(sum('turnpike_exchange_first_event_seconds_count', { model: 'large-1' }), 8)
  assert.equal(sum('turnpike_exchanges_total', { ending: 'upstream_cut' }), 1)
  assert.ok(sum('turnpike_tokens_total', { model: 'large-1', class: 'output' }) > 0)
  assert.equal(sum('turnpike_exchanges_total', { operation: 'embeddings.create' }), 1)
  assert.equal(sum('turnpike_refusals_total', { code: 'relay.model_unknown' }), 1)
  assert.equal(sum('turnpike_failed_sign_ins_total', { kind: 'reader' }), 1)
  const free = { vendor: 'alpha', status: '200' }
  assert.equal(sum('turnpike_free_exchanges_total', { ...free, operation: 'models.list' }), 1)
  assert.equal(
    sum('turnpike_free_exchanges_total', { ...free, operation: 'messages.count_tokens' }),
    1,
  )
})

test('counts attempts, failovers and commits, and shows open holds', () => {
  const failed = sum('turnpike_attempts_total', { channel: 'alpha-main', outcome: 'hard' })
  assert.ok(failed > 0)
  assert.ok(sum('turnpike_failovers_total', { vendor: 'alpha' }) >= failed)
  assert.ok(sum('turnpike_attempts_total', { channel: 'alpha-reserve', outcome: 'ok' }) > 0)
  assert.equal(
    sum('turnpike_commit_exchanges_sum'),
    sum('turnpike_exchanges_total', {}),
    'every ended exchange is in one commit',
  )
  assert.equal(sum('turnpike_commit_duration_seconds_count', { result: 'failed' }), 0)
  assert.equal(sum('turnpike_store_up'), 1)
  assert.equal(sum('turnpike_open_holds'), 0)
  assert.equal(sum('turnpike_held_usd'), 0)
})

test('no label of a scrape has a value that a client has made up', () => {
  assert.ok(readScrape(text).size > 60)
  assert.doesNotMatch(text, /cr_|ro_|"unknown"|failover-/)
})

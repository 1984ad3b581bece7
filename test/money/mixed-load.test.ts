/**
 * Forty clients at once, each with a random mix of formats, streams, faults of the vendor and
 * leaving in the middle. Goal: afterwards the vendors' log, what the clients saw and the ledger agree
 * on every single exchange, nothing is held, and the figures are the ledger's. The seed is in every
 * failure; TURNPIKE_TEST_SEED replays it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Random } from '../../src/base/random.ts'
import { seededRandom } from '../../src/base/random.ts'
import { createFirstAdminToken } from '../../src/operations/keys/first-admin-token.ts'
import { hasEnd } from '../support/answers.ts'
import { assertClean, chargesOf, exchangesOf, reconcile, type Seen, usd } from '../support/money.ts'
import { type Ask, bodyFormats, formsOf, sendAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario } from '../support/scenario.ts'
import { send, usage } from '../support/http-client.ts'
import { volume } from '../support/variants.ts'

const clients = 40
const exchangesPerClient = volume({ few: 5, all: 12 })
const maxTokens = 60

/** What a vendor does; most of the time nothing out of the ordinary. */
const behaviours: readonly string[] = [
  'output=8',
  'output=20; event_delay_ms=0',
  'cached=40; output=5',
  'reasoning=9; output=4; chunking=random; seed=7',
  'output=30; chunking=byte',
  'refusal=empty',
  'refusal=partial',
  'output=0',
  'status=500',
  'error=429; retry_after=1',
  'error=400',
  'error_first; pings=2',
  'error_at=4',
  'cut_event=3',
  'cut_event=5; cut_as=reset',
  'cut_event=2; cut_as=end',
  'cut=200',
  'reset=before_head',
  'close=after_head',
  'not_format=html',
  'terminal=missing',
  'terminal=twice',
  'usage=twice',
]

function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)]
  assert.ok(item !== undefined)
  return item
}

function randomAsk(random: Random, marker: string): Ask {
  const isOrdinary = random() < 0.5
  const format = pick(random, bodyFormats)
  return {
    format,
    isStream: random() < 0.7 && formsOf(format).includes(true),
    maxTokens,
    marker,
    prompt: 'word '.repeat(1 + Math.floor(random() * 50)),
    sandbox: isOrdinary ? 'event_delay_ms=0; output=12' : pick(random, behaviours),
  }
}

test('charges every exchange of a mixed load as the vendors’ log says', async () => {
  const seed = Number(process.env['TURNPIKE_TEST_SEED'] ?? 20_261_121)
  const random = seededRandom(seed)
  let holds = 0
  const gateway = await scenario({
    settings: { client_left_grace: '200ms' },
    onTracePoint(point) {
      if (point === 'hold_placed') holds++
    },
  })
  try {
    const accounts: TestAccount[] = []
    for (let index = 0; index < 4; index++) accounts.push(await gateway.createAccount())
    const expected = new Map(accounts.map((account) => [account.id, 0]))
    const seen: Seen[] = []
    await Promise.all(
      Array.from({ length: clients }, async (_, client) => {
        const own = seededRandom(seed + client)
        for (let number = 0; number < exchangesPerClient; number++) {
          const marker = `${client}-${number}`
          const ask = randomAsk(own, marker)
          const account = pick(own, accounts)
          const leavesAt = own() < 0.25 ? Math.floor(own() * 8) : Infinity
          const answer = await sendAsk(gateway.url, account.key, {
            ...ask,
            onChunk: (_chunk, index) => (index >= leavesAt ? 'leave' : undefined),
          })
          if (answer.headers['x-turnpike-request-id'] !== undefined)
            expected.set(account.id, (expected.get(account.id) ?? 0) + 1)
          seen.push({ marker, hasEnd: hasEnd(answer, ask) })
        }
      }),
    )
    const total = clients * exchangesPerClient
    assert.equal(holds, total, 'balances suffice for all')
    for (const account of accounts) await gateway.ended(account, expected.get(account.id) ?? 0)

    assert.equal(await openHolds(gateway.adminUrl, gateway), 0)
    await assertClean(gateway)
    const { database } = gateway.context
    const records = gateway.sandbox.log.records
    const { chargedCount, chargedPicos } = await reconcile({ records, database, seen, maxTokens })
    assert.equal((await exchangesOf(database)).length, total)
    const ended = seen.filter(({ hasEnd }) => hasEnd).length
    assert.ok(chargedCount > total / 3 && ended > total / 3, `${chargedCount} of ${ended}`)

    let shownPicos = 0n
    for (const account of accounts) {
      let sum = 0n
      for (const picos of (await chargesOf(database, account.id)).values()) sum += picos
      shownPicos += sum
      const figures = await usage(gateway.url, account.token, 'total')
      assert.equal((figures['usage'] as { cost_usd: number }).cost_usd, usd(sum))
      assert.equal(figures['balance_usd'], usd(10_000_000_000_000n - sum))
    }
    assert.equal(shownPicos, chargedPicos)
  } catch (error) {
    throw new Error(`seed ${seed} (${random() < 2 ? 'see cause' : ''})`, { cause: error })
  } finally {
    await gateway.close()
  }
})

/** How many holds the gateway says are open, by its own gauge. */
async function openHolds(
  adminUrl: string,
  gateway: { readonly context: Parameters<typeof createFirstAdminToken>[0] },
): Promise<number> {
  const token = await createFirstAdminToken(gateway.context)
  const headers = { authorization: `Bearer ${token?.secret ?? ''}` }
  const metrics = await send(`${adminUrl}/metrics`, { headers })
  const line = /^turnpike_open_holds (\d+)$/m.exec(metrics.body.toString())
  assert.ok(line !== null, metrics.body.toString().slice(0, 200))
  return Number(line[1])
}

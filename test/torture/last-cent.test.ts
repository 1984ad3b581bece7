/**
 * Five hundred requests at once over two gateways on one PostgreSQL, with funds for just so many:
 * exactly as many are admitted, and one that the rest does not cover where the account admits by the likely
 * cost, on whichever node they come. Only those are charged. All have been decided before the vendor may
 * answer the first.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { formatUsd, picos } from '../../src/base/money.ts'
import type { ServedRecord } from '../../sandbox/served-record.ts'
import { hasEnd } from '../support/answers.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { assertClean, chargesOf } from '../support/money.ts'
import { type Ask, sendAsk } from '../support/requests.ts'
import { type ProcessScenario, scenario } from '../support/scenario.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { report } from './report.ts'
import { tortureFactor, tortureRandom } from './torture.ts'
import { volume } from '../support/variants.ts'

const parallel = 500
/** In the long run a race that is lost once in fifty times must not pass by luck. */
const roundsMin = volume({ few: 25, all: 100 })
const ask: Ask = { format: 'messages', isStream: true, maxTokens: 100 }

describe('the last cent over two nodes', () => {
  let server: PostgresServer
  let setup: ProcessScenario
  let gateways: readonly GatewayProcess[]
  before(async () => {
    server = await startPostgres()
    setup = await scenario({ process: 'own', storeUrl: await server.createDatabase() })
    // A node's own checks are no answer to anybody's requests.
    const settings = { check_interval: '1440m' }
    gateways = [await setup.start(settings), await setup.start(settings)]
  })
  after(async () => {
    await setup.close()
    await server.close()
  })

  /** Sends all at once; the vendor sends no answer until each has been admitted or refused. */
  async function race(key: string, gate: string): Promise<readonly { status: number }[]> {
    let decided = 0
    const decide = (): void => {
      if (++decided === parallel) setup.sandbox.faults.release(gate)
    }
    const isRound = (record: ServedRecord): boolean =>
      record.marker?.startsWith(`${gate}-`) === true
    const seen = new Set<number>()
    const noteAdmitted = async (): Promise<void> => {
      for (;;) {
        const record = await setup.sandbox.log.waitFor(
          (one) => isRound(one) && !seen.has(one.index),
        )
        seen.add(record.index)
        decide()
      }
    }
    void noteAdmitted().catch(() => undefined)
    return Promise.all(
      Array.from({ length: parallel }, async (_, index) => {
        const url = gateways[index % gateways.length]?.url ?? ''
        const sandbox = `input=1; output=2; hold=${gate}@before_head`
        const marker = `${gate}-${String(index).padStart(3, '0')}`
        const answer = await sendAsk(url, key, { ...ask, marker, sandbox })
        if (answer.status === 200) assert.ok(hasEnd(answer, ask))
        else decide()
        return answer
      }),
    )
  }

  /** What one of these requests holds, read from the one hold there is while it runs. */
  async function findHoldPicos(): Promise<bigint> {
    const account = await setup.createAccount()
    const sandbox = 'input=1; output=2; hold=measure@before_head'
    const running = sendAsk(gateways[0]?.url ?? '', account.key, {
      ...ask,
      marker: 'round-0-000',
      sandbox,
    })
    await setup.sandbox.faults.reached('measure')
    const rows = await setup.context.database.query('SELECT amount_picos FROM hold')
    setup.sandbox.faults.release('measure')
    await running
    assert.equal(rows.length, 1)
    return BigInt(String(rows[0]?.['amount_picos']))
  }

  it('admits exactly as many requests as there is money for', async (context) => {
    const random = tortureRandom()
    const holdPicos = await findHoldPicos()
    const rounds = Math.max(roundsMin, 2 * tortureFactor)
    let admitted = 0
    for (let round = 1; round <= rounds; round++) {
      const covered = 1 + Math.floor(random() * 20)
      const funds = holdPicos * BigInt(covered + 1) - 1n
      // By the likely cost one more fits into the rest, and then nothing is left for any other.
      const holds = round % 2 === 0 ? 'likely' : 'most'
      const affordable = holds === 'most' ? covered : covered + 1
      const account = await setup.createAccount({ balance_usd: formatUsd(picos(funds)), holds })
      const answers = await race(account.key, `round-${round}`)
      const counts = Map.groupBy(answers, ({ status }) => status)
      assert.deepEqual(
        [counts.get(200)?.length, counts.get(402)?.length],
        [affordable, parallel - affordable],
        `round ${round}`,
      )
      const charges = await chargesOf(setup.context.database, account.id)
      assert.equal(charges.size, affordable)
      admitted += affordable
    }
    await assertClean(setup)
    report(context, {
      name: 'last cent',
      requests: rounds * parallel,
      ends: admitted,
      charges: admitted,
      kills: 0,
      faults: rounds,
    })
  })
})

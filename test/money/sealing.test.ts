/**
 * Gateways seal by themselves: after an hour has ended, the holder of an account gets its signed head from
 * either of two gateways on one PostgreSQL, once.
 */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { hourMs, minuteMs } from '../../src/base/clock.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { sendAsk } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

interface Proofs {
  readonly items: readonly { readonly count: number; readonly hour: string }[]
  readonly keys: readonly unknown[]
}

const clock = new ManualClock()
let server: PostgresServer
let one: Scenario
let other: Scenario

before(async () => {
  server = await startPostgres()
  const storeUrl = await server.createDatabase()
  one = await scenario({ storeUrl, clock })
  other = await scenario({ storeUrl, clock, catalogue: () => one.catalogueText })
})

after(async () => {
  await one.close()
  await other.close()
  await server.close()
})

it('seals an hour once, whichever gateway it is, and both show the head', async () => {
  const account = await one.createAccount()
  const asked = await sendAsk(one.url, account.key, { format: 'messages', isStream: false })
  assert.equal(asked.status, 200)
  clock.advance(hourMs + 4 * minuteMs)
  const proofsOf = async ({ url }: Scenario): Promise<Proofs> => {
    const headers = { authorization: `Bearer ${account.token}` }
    const { text } = await send(`${url}/v1/usage/proofs`, { headers })
    return JSON.parse(text) as Proofs
  }
  const sealed = await eventually(
    'the hour is sealed',
    () => {
      // Little: a longer step would end the lease on the task.
      clock.advance(1_000)
      return proofsOf(other)
    },
    ({ items }) => items.length > 0,
  )
  assert.deepEqual(
    sealed.items.map(({ count, hour }) => [count, hour]),
    [[2, '2026-11-21T13:00:00.000Z']],
  )
  assert.equal(sealed.keys.length, 1)
  assert.deepEqual(await proofsOf(one), sealed)
  assert.deepEqual((await one.audit()).differences, [])
})

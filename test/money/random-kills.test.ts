/**
 * kill -9 of the gateway at random moments while forty clients are at it. Goal: after each cycle the
 * books are clean and agree with the vendors' log and with what the clients saw. TURNPIKE_TEST_CYCLES
 * sets how often, TURNPIKE_TEST_SEED replays the choices.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, type Random } from '../../src/base/random.ts'
import { hasEnd, hasTerminalEvent } from '../support/answers.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { assertClean, reconcile, type Seen } from '../support/money.ts'
import { type Ask, bodyFormats, formsOf, sendAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario } from '../support/scenario.ts'

const clients = 40
const maxTokens = 100

test('charges every delivered answer once when the gateway is killed at random under load', async () => {
  const cycles = Number(process.env['TURNPIKE_TEST_CYCLES'] ?? 3)
  const seed = Number(process.env['TURNPIKE_TEST_SEED'] ?? 11)
  const random = seededRandom(seed)
  const setup = await scenario({ process: 'own' })
  try {
    const accounts = await Promise.all([1, 2, 3].map(() => setup.createAccount()))
    const seen: Seen[] = []
    for (let cycle = 0; cycle < cycles; cycle++) {
      const gateway = await setup.start()
      seen.push(...(await loadUntilKilled(gateway, accounts, { random, cycle })))
      await assertClean(setup)
      const { records } = setup.sandbox.log
      await reconcile({ records, database: setup.context.database, seen, maxTokens })
    }
    assert.ok(seen.filter(({ hasEnd }) => hasEnd).length >= 20 * cycles, `seed ${seed}`)
    const gateway = await setup.start()
    const ask: Ask = { format: 'chat', isStream: true }
    assert.ok(hasEnd(await sendAsk(gateway.url, accounts[0]?.key ?? '', ask), ask))
  } finally {
    await setup.close()
  }
})

interface Cycle {
  readonly random: Random
  readonly cycle: number
}

/** All clients ask as fast as they can; after a random number of answers the gateway is killed. */
async function loadUntilKilled(
  gateway: GatewayProcess,
  accounts: readonly TestAccount[],
  { random, cycle }: Cycle,
): Promise<readonly Seen[]> {
  const seen: Seen[] = []
  const answersMax = 20 + Math.floor(random() * 80)
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let number = 0; seen.length < answersMax; number++) {
        const account = accounts[Math.floor(random() * accounts.length)]
        assert.ok(account !== undefined)
        const format = bodyFormats[Math.floor(random() * bodyFormats.length)] ?? 'chat'
        const ask: Ask = {
          format,
          isStream: random() < 0.5 && formsOf(format).includes(true),
          marker: `${cycle}-${client}-${number}`,
          maxTokens,
          sandbox: 'event_delay_ms=0',
        }
        seen.push(await look(gateway.url, account, ask))
        if (seen.length === answersMax) gateway.signal('SIGKILL')
      }
    }),
  )
  assert.equal(await gateway.ended, 'SIGKILL')
  return seen
}

/** One request and what became of it, the gateway's death included. */
async function look(url: string, account: TestAccount, ask: Ask): Promise<Seen> {
  const marker = ask.marker ?? ''
  try {
    const answer = await sendAsk(url, account.key, ask)
    const isWhole = ask.isStream
      ? hasTerminalEvent(answer.body.toString(), ask.format)
      : answer.isComplete
    return { marker, hasEnd: answer.status === 200 && isWhole }
  } catch {
    // No head came: the gateway had died, or died before it could answer.
    return { marker, hasEnd: false }
  }
}

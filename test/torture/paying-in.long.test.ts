/**
 * Codes and events of Stripe at two gateways on one PostgreSQL that are killed again and again: each is
 * sent by many at once, at either gateway, until it is answered, and then once more. Goal: each is booked
 * once, with one action in the log.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Random } from '../../src/base/random.ts'
import { createCodes } from '../../src/operations/codes/codes.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { eventually } from '../support/eventually.ts'
import type { WireAnswer } from '../support/http-client.ts'
import { inviteMember, openMemberSession } from '../support/members.ts'
import { assertClean } from '../support/money.ts'
import { startPostgres } from '../support/postgres.ts'
import { type ProcessScenario, scenario } from '../support/scenario.ts'
import {
  disputedEvent,
  paidEvent,
  postEvent,
  refundedEvent,
  stripeSettings,
} from '../support/stripe-events.ts'
import { startNodes } from './nodes.ts'
import { tortureFactor, tortureRandom } from './torture.ts'

const codeCount = 12
const paymentCount = 6
const clientCount = 12
const killCount = 4 * tortureFactor

type Act = (url: string) => Promise<WireAnswer>

/** All that is sent, and the entries that follow, by reference. */
interface Work {
  readonly accountId: string
  readonly acts: readonly Act[]
  readonly cents: ReadonlyMap<string, number>
}

async function prepare(setup: ProcessScenario): Promise<Work> {
  const { context } = setup
  const account = await setup.createAccount({ balance_usd: '1' })
  const email = 'ann@acme.example'
  const { id } = await inviteMember(context, { account: account.name, email, role: 'owner' })
  const session = await openMemberSession(context, '', id)
  const made = await createCodes(context, { amount_usd: '7', count: codeCount })
  const acts = valueOf(made).codes.map(
    (code): Act =>
      (url) =>
        session.at(url).call('POST', '/codes', { code }),
  )
  const rows = await context.database.query('SELECT id FROM code')
  const cents = new Map(rows.map((row) => [`code:${String(row['id'])}`, 700]))
  for (let index = 0; index < paymentCount; index++) {
    const payment = `pi_${index}`
    const dispute = `dp_${index}`
    for (const payload of [
      paidEvent(payment, account.id),
      ...(index % 2 === 0
        ? [refundedEvent(payment, 700)]
        : [disputedEvent(payment, dispute), disputedEvent(payment, dispute, 'won')]),
    ])
      acts.push((url) => postEvent(url, payload))
    cents.set(`stripe:${payment}`, 2_500)
    if (index % 2 === 0) cents.set(`stripe-refund:${payment}:700`, -700)
    else
      cents
        .set(`stripe-dispute:${payment}:${dispute}`, -2_500)
        .set(`stripe-dispute-won:${payment}:${dispute}`, 2_500)
  }
  return { accountId: account.id, acts, cents }
}

test('money comes in once, whichever gateway is killed', async () => {
  const random = tortureRandom()
  const server = await startPostgres()
  const storeUrl = await server.createDatabase()
  const setup = await scenario({ process: 'own', storeUrl, settings: stripeSettings })
  const nodes = await startNodes({ setup, random, settings: [{}, {}] })
  try {
    const { accountId, acts, cents } = await prepare(setup)
    const send = async (act: Act): Promise<void> => {
      const once = async () => act(await nodes.findUrl()).catch(() => undefined)
      await eventually('an answer', once, (answer) => answer?.status === 200)
    }
    const killing = (async () => {
      while (nodes.killCount < killCount) await nodes.kill()
    })()
    const clients = Array.from({ length: clientCount }, async () => {
      // Each client sends everything, in an order of its own, until the kills are over and once more.
      do for (const act of shuffled(acts, random)) await send(act)
      while (nodes.killCount < killCount)
    })
    await Promise.all([killing, ...clients])
    await nodes.allServe()
    for (const act of acts) await send(act)
    assert.deepEqual(await readBooked(setup, accountId), [...cents].sort(byReference))
    const references = [...cents.keys()].sort()
    assert.deepEqual(await readLogged(setup, accountId), references)
    await assertClean(setup)
  } finally {
    await nodes.end()
    await setup.close()
    await server.close()
  }
})

function shuffled(acts: readonly Act[], random: Random): readonly Act[] {
  return acts
    .map((act) => ({ act, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ act }) => act)
}

type Booked = readonly [reference: string, cents: number]

function byReference([one]: Booked, [other]: Booked): number {
  return one < other ? -1 : 1
}

async function readBooked(setup: ProcessScenario, accountId: string): Promise<readonly Booked[]> {
  const rows = await setup.context.database.query(
    `SELECT reference, amount_picos FROM entry WHERE account_id = $1 AND
       (reference LIKE 'code:%' OR reference LIKE 'stripe%')`,
    [accountId],
  )
  return rows
    .map((row): Booked => [String(row['reference']), Number(row['amount_picos']) / 1e10])
    .sort(byReference)
}

async function readLogged(setup: ProcessScenario, accountId: string): Promise<readonly string[]> {
  const rows = await setup.context.database.query(
    `SELECT detail FROM operator_action WHERE subject = $1 AND action = 'account.credit'`,
    [accountId],
  )
  return rows
    .map((row) => (JSON.parse(String(row['detail'])) as { reference: string }).reference)
    .filter((reference) => /^(code:|stripe)/.test(reference))
    .sort()
}

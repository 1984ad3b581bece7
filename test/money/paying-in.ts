/**
 * Money that comes in by itself, or is taken back, while a gateway dies by kill -9: a top-up code, and what
 * Stripe tells. The deed is done at one gateway, which is killed at a point, and is done again at one that
 * lives, as a person and Stripe do. Then it is in the ledger once, with one action in the log.
 */
import assert from 'node:assert/strict'
import { createCodes } from '../../src/operations/codes/codes.ts'
import { valueOf } from '../../src/operations/operation.ts'
import type { TestAccount } from '../support/accounts.ts'
import type { WireAnswer } from '../support/http-client.ts'
import { inviteMember, openMemberSession } from '../support/members.ts'
import { assertClean } from '../support/money.ts'
import { creditAccount } from '../support/operations.ts'
import type { ProcessScenario } from '../support/scenario.ts'
import { disputedEvent, paidEvent, postEvent, refundedEvent } from '../support/stripe-events.ts'

/** What is done at a gateway, and the entry that follows from it. */
export interface Deed {
  readonly account: TestAccount
  readonly reference: string
  readonly amountUsd: number
  readonly act: (url: string) => Promise<WireAnswer>
}

/** Prepares a deed on an account without money, with a gateway that lives. */
type Prepare = (setup: ProcessScenario, url: string) => Promise<Deed>

export const deeds: Readonly<Record<string, Prepare>> = {
  async 'redeems a code'(setup) {
    const { context } = setup
    const account = await setup.createAccount({ balance_usd: '0' })
    const email = 'ann@acme.example'
    const { id } = await inviteMember(context, { account: account.name, email, role: 'owner' })
    const { batch, codes } = valueOf(await createCodes(context, { amount_usd: '7', count: 1 }))
    const sql = 'SELECT id FROM code WHERE batch_id = $1'
    const [row] = await context.database.query(sql, [batch.id])
    const browser = await openMemberSession(context, '', id)
    const act = (url: string) => browser.at(url).call('POST', '/codes', { code: codes[0] })
    return { account, reference: `code:${String(row?.['id'])}`, amountUsd: 7, act }
  },
  async 'hears of a payment'(setup) {
    const account = await setup.createAccount({ balance_usd: '0' })
    const payment = `pi_${account.name}`
    const act = (url: string) => postEvent(url, paidEvent(payment, account.id))
    return { account, reference: `stripe:${payment}`, amountUsd: 25, act }
  },
  async 'hears of a refund'(setup, url) {
    const { account, payment } = await pay(setup, url)
    const act = (at: string) => postEvent(at, refundedEvent(payment, 700))
    return { account, reference: `stripe-refund:${payment}:700`, amountUsd: -7, act }
  },
  async 'hears of a dispute and suspends the account'(setup, url) {
    const { account, payment } = await pay(setup, url)
    const spent = { account: account.name, amount_usd: '-1', reference: 'spent' }
    await creditAccount(setup.context, spent)
    const dispute = `dp_${account.name}`
    const act = (at: string) => postEvent(at, disputedEvent(payment, dispute))
    return { account, reference: `stripe-dispute:${payment}:${dispute}`, amountUsd: -25, act }
  },
}

async function pay(setup: ProcessScenario, url: string) {
  const account = await setup.createAccount({ balance_usd: '0' })
  const payment = `pi_${account.name}`
  assert.equal((await postEvent(url, paidEvent(payment, account.id))).status, 200)
  return { account, payment }
}

/** What the kill left behind: nothing, or all of it. */
export type Left = 'nothing' | 'all'

/**
 * Does the deed at the gateway that `kill` kills, looks what that left, and does it again at each of the
 * gateways that live.
 */
export async function killAndRepeat(
  setup: ProcessScenario,
  deed: Deed,
  {
    at,
    kill,
    living,
  }: {
    readonly at: string
    /** Gets the answer to the deed, undefined where none came. */
    readonly kill: (first: Promise<WireAnswer | undefined>) => Promise<void>
    readonly living: () => Promise<readonly string[]>
  },
): Promise<Left> {
  const first = deed.act(at).catch(() => undefined)
  await kill(first)
  await first
  const left = await lookAt(setup, deed)
  for (const url of await living())
    for (let count = 0; count < 2; count++) {
      const answer = await deed.act(url)
      assert.equal(answer.status, 200, answer.text)
      assert.equal(await lookAt(setup, deed), 'all')
    }
  await assertClean(setup)
  return left
}

/** In one statement, so that it sees one moment. */
async function lookAt(
  { context: { database } }: ProcessScenario,
  { account, reference, amountUsd }: Deed,
): Promise<Left> {
  const [row] = await database.query(
    `SELECT (SELECT COUNT(*) FROM entry WHERE account_id = $1 AND reference = $2) AS entries,
       (SELECT SUM(amount_picos) FROM entry WHERE account_id = $1 AND reference = $2) AS picos,
       (SELECT COUNT(*) FROM operator_action WHERE subject = $1 AND action = 'account.credit'
          AND detail LIKE '%"' || $2 || '"%') AS actions,
       (SELECT COUNT(*) FROM operator_action WHERE subject = $1 AND action = 'account.suspend') AS suspends,
       (SELECT COUNT(*) FROM code WHERE 'code:' || id = $2 AND account_id = $1) AS redeemed,
       (SELECT status FROM account WHERE id = $1) AS status`,
    [account.id, reference],
  )
  const isBooked = Number(row?.['entries']) === 1
  const isDispute = reference.startsWith('stripe-dispute:')
  const one = isBooked ? 1 : 0
  assert.deepEqual(
    {
      entries: Number(row?.['entries']),
      usd: Number(row?.['picos']) / 1e12,
      actions: Number(row?.['actions']),
      suspends: Number(row?.['suspends']),
      redeemed: Number(row?.['redeemed']),
      status: row?.['status'],
    },
    {
      entries: one,
      usd: isBooked ? amountUsd : 0,
      actions: one,
      suspends: isDispute ? one : 0,
      redeemed: reference.startsWith('code:') ? one : 0,
      status: isDispute && isBooked ? 'suspended' : 'active',
    },
  )
  return isBooked ? 'all' : 'nothing'
}

/** A backup taken while clients are served, and what they had seen the end of before it began. */
import assert from 'node:assert/strict'
import { hasEnd } from '../support/answers.ts'
import { type Ask, formats, sendAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import type { Scenario } from '../support/scenario.ts'
import type { Program } from '../support/program.ts'

const clients = 8

export interface TakenUnderLoad<Result> {
  readonly result: Result
  /** Exchanges whose answers were whole before `backUp` was called. */
  readonly acknowledged: readonly string[]
  /** How many more were answered until it had ended. */
  readonly answeredWhile: number
}

/** Calls `backUp` once every client has been served a few times; the load goes on until it has ended. */
export async function backUpUnderLoad<Result>(
  gateway: Scenario,
  account: TestAccount,
  backUp: () => Promise<Result>,
): Promise<TakenUnderLoad<Result>> {
  const acknowledged: string[] = []
  let answeredWhile = 0
  const phase = { isTaking: false, isOver: false }
  const begun = Promise.withResolvers<void>()
  const serve = async (): Promise<void> => {
    for (let count = 0; !phase.isOver; count++) {
      const ask: Ask = { format: formats[count % 2] ?? 'chat', isStream: true, sandbox: 'output=3' }
      const answer = await sendAsk(gateway.url, account.key, ask)
      assert.ok(hasEnd(answer, ask), answer.body.toString().slice(0, 200))
      if (phase.isTaking) answeredWhile++
      else acknowledged.push(String(answer.headers['x-turnpike-request-id']))
      if (acknowledged.length >= 3 * clients) begun.resolve()
    }
  }
  const load = Promise.all(Array.from({ length: clients }, serve))
  await Promise.race([begun.promise, load])
  phase.isTaking = true
  try {
    const result = await backUp()
    return { result, acknowledged, answeredWhile }
  } finally {
    phase.isOver = true
    await load
  }
}

/** Fails where the account's statement, as the restored store tells it, lacks one of these exchanges. */
export async function demandCharges(
  restored: Program,
  account: TestAccount,
  exchangeIds: readonly string[],
): Promise<void> {
  const statement = await restored.json<{ entries: readonly { reference: string }[] }>(
    'account',
    'statement',
    account.name,
  )
  const references = new Set(statement.entries.map(({ reference }) => reference))
  for (const exchangeId of exchangeIds) assert.ok(references.has(exchangeId), exchangeId)
}

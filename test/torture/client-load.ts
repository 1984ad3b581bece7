/**
 * Forty clients at once, of every kind: most read their answers to the end, some leave at some byte,
 * and a part of their requests meets a vendor that fails. Each writes down whether it has seen the
 * end of its answer: one of the three sides of the oracle.
 */
import assert from 'node:assert/strict'
import { sleep, systemClock } from '../../src/base/clock.ts'
import type { Random } from '../../src/base/random.ts'
import { hasTerminalEvent } from '../support/answers.ts'
import type { Seen } from '../support/money.ts'
import { type Ask, openAsk, sendAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'

export interface LoadPlan {
  readonly random: Random
  readonly accounts: readonly TestAccount[]
  /** Address of a gateway that is thought to be alive; waits while there is none. */
  readonly findUrl: () => Promise<string>
  /** Asked before each request, with the number of answers that have been seen to their end. */
  readonly isOver: (ends: number) => boolean
  /** Distinguishes the markers of this load from those of others. */
  readonly name: string
}

const clientCount = 40
export const loadMaxTokens = 60
/** As a client's library would wait after a 503, so that an outage is not a busy loop. */
const retryDelayMs = 25

/** What vendors do wrong, from before the head to the last event. */
const vendorFaults = [
  'status=500',
  'error=529',
  'error_first=',
  'reset=before_head',
  'close=after_head',
  'cut_event=2; cut_as=reset',
  'cut_event=4; cut_as=end',
  'error_at=3',
  'terminal=missing',
  'not_format=html',
]

export async function sendLoad(plan: LoadPlan): Promise<readonly Seen[]> {
  const seen: Seen[] = []
  let ends = 0
  await Promise.all(
    Array.from({ length: clientCount }, async (_, client) => {
      for (let number = 0; !plan.isOver(ends); number++) {
        const one = await askOnce(plan, `${plan.name}-${client}-${number}`)
        seen.push(one)
        if (one.hasEnd) ends++
      }
    }),
  )
  return seen
}

async function askOnce(plan: LoadPlan, marker: string): Promise<Seen> {
  const { random } = plan
  const account = plan.accounts[Math.floor(random() * plan.accounts.length)]
  assert.ok(account !== undefined)
  const fault =
    random() < 0.1 ? vendorFaults[Math.floor(random() * vendorFaults.length)] : undefined
  const output = 2 + Math.floor(random() * 12)
  const ask: Ask = {
    format: random() < 0.5 ? 'messages' : 'chat',
    isStream: random() < 0.6,
    marker,
    maxTokens: loadMaxTokens,
    sandbox: `output=${output}; event_delay_ms=0${fault === undefined ? '' : `; ${fault}`}`,
  }
  const leavesAfterBytes = random() < 0.12 ? Math.floor(random() * 1_500) : undefined
  const url = await plan.findUrl()
  try {
    return leavesAfterBytes === undefined
      ? await readToEnd(url, account, ask)
      : await leaveEarly(url, account, ask, leavesAfterBytes)
  } catch {
    // No head came: the gateway had died, or died before it could answer.
    await sleep(systemClock, retryDelayMs)
    return { marker, hasEnd: false }
  }
}

async function readToEnd(url: string, account: TestAccount, ask: Ask): Promise<Seen> {
  const answer = await sendAsk(url, account.key, ask)
  if (answer.status === 503) await sleep(systemClock, retryDelayMs)
  const isWhole = ask.isStream
    ? hasTerminalEvent(answer.body.toString(), ask.format)
    : answer.isComplete
  return { marker: ask.marker ?? '', hasEnd: answer.status === 200 && isWhole }
}

/** A client that has read the last event before it leaves has seen the end as well. */
async function leaveEarly(
  url: string,
  account: TestAccount,
  ask: Ask,
  bytes: number,
): Promise<Seen> {
  const client = openAsk(url, account.key, ask)
  const enough = client.until((text) => text.length >= bytes).catch(() => undefined)
  await enough
  client.leave()
  const { text, isComplete } = await client.ended
  const isWhole = ask.isStream ? hasTerminalEvent(text, ask.format) : isComplete
  const isAnswer = !/"error"/.test(text)
  return { marker: ask.marker ?? '', hasEnd: isWhole && isAnswer && text !== '' }
}

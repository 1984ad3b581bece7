/**
 * Forty clients at once, of every kind: most read their answers to the end, some leave at some byte,
 * and a part of their requests meets a vendor that fails. Each writes down whether it has seen the
 * end of its answer: one of the three sides of the oracle. They continue and delete stored responses,
 * their own and, by guess, those of others.
 */
import assert from 'node:assert/strict'
import { sleep, systemClock } from '../../src/base/clock.ts'
import type { Random } from '../../src/base/random.ts'
import { hasTerminalEvent } from '../support/answers.ts'
import type { Seen } from '../support/money.ts'
import { send, type WireAnswer } from '../support/http-client.ts'
import {
  type Ask,
  bodyFormats,
  formsOf,
  openAsk,
  responsesPath,
  sendAsk,
} from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'

/** A stored response whose end its client has seen: from then on its state is in the store. */
interface StoredAnswer {
  readonly id: string
  readonly account: TestAccount
}

/** What clients of one run can name, whichever gateway they ask. */
export interface StoredAnswers {
  /** Those that are not deleted. */
  readonly all: StoredAnswer[]
  storedCount: number
  /** Ids whose deletion has begun. */
  readonly deleted: Set<string>
}

export interface LoadPlan {
  readonly random: Random
  readonly accounts: readonly TestAccount[]
  /** Address of a gateway that is thought to be alive; waits while there is none. */
  readonly findUrl: () => Promise<string>
  /** Asked before each request: how many answers were seen to their end, of how many requests. */
  readonly isOver: (ends: number, requests: number) => boolean
  readonly answers: StoredAnswers
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
      for (let number = 0; !plan.isOver(ends, seen.length); number++) {
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
  const account = pick(random, plan.accounts)
  const fault = random() < 0.1 ? pick(random, vendorFaults) : undefined
  const output = 2 + Math.floor(random() * 12)
  const format = pick(random, bodyFormats)
  const earlier =
    format === 'responses' && plan.answers.all.length > 0 && random() < 0.5
      ? pick(random, plan.answers.all)
      : undefined
  const ask: Ask = {
    format,
    isStream: random() < 0.6 && formsOf(format).includes(true),
    marker,
    maxTokens: loadMaxTokens,
    sandbox: `output=${output}; event_delay_ms=0${fault === undefined ? '' : `; ${fault}`}`,
    ...(earlier !== undefined && { more: { previous_response_id: earlier.id } }),
  }
  const leavesAfterBytes = random() < 0.12 ? Math.floor(random() * 1_500) : undefined
  const isDeletion = earlier !== undefined && random() < 0.15
  const url = await plan.findUrl()
  try {
    if (isDeletion) return await deleteStored(plan, url, { earlier, account, marker })
    if (leavesAfterBytes !== undefined) return await leaveEarly(url, account, ask, leavesAfterBytes)
    return await readToEnd(plan, { url, account, ask, earlier })
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    // No head came: the gateway had died, or died before it could answer.
    await sleep(systemClock, retryDelayMs)
    return { marker, hasEnd: false }
  }
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)]
  assert.ok(item !== undefined)
  return item
}

interface Reading {
  readonly url: string
  readonly account: TestAccount
  readonly ask: Ask
  readonly earlier: StoredAnswer | undefined
}

async function readToEnd(plan: LoadPlan, { url, account, ask, earlier }: Reading): Promise<Seen> {
  const answer = await sendAsk(url, account.key, ask)
  if (answer.status === 503) await sleep(systemClock, retryDelayMs)
  if (earlier !== undefined) assertOwnership(plan, earlier, { account, answer })
  const isWhole = ask.isStream
    ? hasTerminalEvent(answer.body.toString(), ask.format)
    : answer.isComplete
  const hasEnd = answer.status === 200 && isWhole
  const id = /"(resp_\w+)"/.exec(answer.text)?.[1]
  if (hasEnd && ask.format === 'responses' && id !== undefined) {
    plan.answers.all.push({ id, account })
    plan.answers.storedCount++
  }
  return { marker: ask.marker ?? '', hasEnd }
}

/** A foreign answer is never served; one's own is known as long as it is not deleted. */
function assertOwnership(
  { answers: { deleted } }: LoadPlan,
  earlier: StoredAnswer,
  { account, answer }: { readonly account: TestAccount; readonly answer: WireAnswer },
): void {
  const isOwn = account.id === earlier.account.id
  const isUnknown = /previous_response_not_found|Response with id/.test(answer.text)
  if (isOwn) assert.ok(!isUnknown || deleted.has(earlier.id), answer.text)
  else assert.ok(answer.status === 503 || isUnknown, `${answer.status} ${answer.text}`)
}

async function deleteStored(
  plan: LoadPlan,
  url: string,
  { earlier, account, marker }: { earlier: StoredAnswer; account: TestAccount; marker: string },
): Promise<Seen> {
  const isOwn = account.id === earlier.account.id
  if (isOwn) {
    plan.answers.deleted.add(earlier.id)
    const place = plan.answers.all.indexOf(earlier)
    if (place >= 0) plan.answers.all.splice(place, 1)
  }
  const headers = { authorization: `Bearer ${account.key}`, 'x-sandbox-marker': marker }
  const answer = await send(`${url}${responsesPath}/${earlier.id}`, { method: 'DELETE', headers })
  assertOwnership(plan, earlier, { account, answer })
  return { marker, hasEnd: false }
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
  const isAnswer = !/"error": ?\{/.test(text)
  return { marker: ask.marker ?? '', hasEnd: isWhole && isAnswer && text !== '' }
}

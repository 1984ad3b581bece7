/**
 * What a gateway has written beside the charges: history of channels, audits, refused requests. Each through
 * the program's own stores.
 */
import { newId } from '../../../src/base/id.ts'
import type { Random } from '../../../src/base/random.ts'
import { appendChanges, type ChannelChange } from '../../../src/channels/cluster/channel-history.ts'
import type { FreeExchangeRow } from '../../../src/ledger/free-exchange-store.ts'
import { insertAudit } from '../../../src/operations/store/audit-store.ts'
import type { Database } from '../../../src/storage/database.ts'
import type { Business } from './business.ts'

export interface Span {
  readonly fromMs: number
  readonly untilMs: number
}

/** `count` moments of the span at equal distances, the earliest first. */
function momentsOf({ fromMs, untilMs }: Span, count: number): number[] {
  const stepMs = (untilMs - fromMs) / count
  return Array.from({ length: count }, (_, index) => Math.floor(fromMs + index * stepMs))
}

/** How an outage of a model on a channel goes: the states, and minutes since it began. */
const outage = [
  { from: 'on', to: 'off', why: 'failures_in_a_row', minute: 0 },
  { from: 'off', to: 'trial', why: 'hold_over', minute: 2 },
  { from: 'trial', to: 'off', why: 'checks_failed', minute: 3 },
  { from: 'off', to: 'trial', why: 'hold_over', minute: 9 },
  { from: 'trial', to: 'ramp', why: 'trial_passed', minute: 10 },
  { from: 'ramp', to: 'on', why: 'ramp_over', minute: 15 },
] as const

/** Outages that are over, each of one model on one channel. */
export async function writeOutages(
  database: Database,
  { business, span, count, random }: Written & { readonly business: Business },
): Promise<void> {
  const changes = momentsOf(span, count).flatMap((startMs): ChannelChange[] => {
    const offer = pick(business.offers, random)
    const { channel } = pick(business.waysOf(offer), random)
    return outage.map(({ from, to, why, minute }) => ({
      id: newId('evt', startMs),
      atMs: startMs + minute * 60_000,
      node: 'gateway-1',
      channel,
      model: offer.id,
      from,
      to,
      why,
      actor: undefined,
      detail: to === 'off' ? { failures: [{ outcome: 'hard', count: 5, lastAtMs: startMs }] } : {},
    }))
  })
  await database.transact((transaction) => appendChanges(transaction, changes))
}

interface Written {
  readonly span: Span
  readonly count: number
  readonly random: Random
}

export function pick<Item>(items: readonly Item[], random: Random): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('there is nothing to choose from')
  return item
}

/** Audits on schedule that found nothing. */
export async function writeAudits(
  database: Database,
  { span, count, random }: Written,
): Promise<void> {
  await database.transact(async (transaction) => {
    for (const [index, startedAtMs] of momentsOf(span, count).entries())
      await insertAudit(transaction, {
        id: newId('aud', startedAtMs),
        scope: index % 6 === 0 ? 'full' : 'recent',
        result: 'passed',
        actor: 'gateway:gateway-1',
        startedAtMs,
        durationMs: 400 + random() * 600,
        exchangesFromMs: 0,
        counts: { accounts: 20, entries: 900, exchanges: 1_000, charges: 880, differences: 0 },
        differences: [],
        error: undefined,
      })
  })
}

const refusals = [
  { status: 429, code: 'access.rate_limited' },
  { status: 402, code: 'ledger.insufficient_balance' },
  { status: 404, code: 'relay.model_unknown' },
  { status: 400, code: 'relay.request_invalid' },
] as const

/** Requests that the gateway refused before it held money. */
export function drawRefusals(
  written: Written & {
    readonly business: Business
    readonly keys: readonly { readonly id: string; readonly accountId: string }[]
  },
): FreeExchangeRow[] {
  const { business, random, keys } = written
  return momentsOf(written.span, written.count).map((startedAtMs) => {
    const offer = pick(business.offers, random)
    const key = pick(keys, random)
    const { status, code } = pick(refusals, random)
    return {
      exchangeId: newId('ex', startedAtMs),
      accountId: key.accountId,
      keyId: key.id,
      vendor: offer.vendor,
      model: code === 'relay.model_unknown' ? undefined : offer.id,
      operation: offer.operation,
      channel: undefined,
      startedAtMs,
      endedAtMs: startedAtMs + 2,
      ending: 'not_admitted',
      status,
      code,
      askedModel: undefined,
      vendorRequestId: undefined,
      attempts: [],
      client: 'python-requests',
      address: '',
      label: '',
      standsFor: code === 'access.rate_limited' ? Math.ceil(random() * 40) : 1,
    }
  })
}

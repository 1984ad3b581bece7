/**
 * Fills a store with a small business in which every page has something to show: accounts in each state, keys
 * with limits, a channel that does not answer, failovers, refunds, answers cut off or withheld, alerts that
 * fire. A running gateway adds what only it can know. The books pass the audit.
 */
import {
  picos,
  picosPerUsd,
  subtractPicos,
  zeroPicos,
  type Picos,
} from '../../../src/base/money.ts'
import { formatUsd } from '../../../src/base/money.ts'
import { seededRandom, type Random } from '../../../src/base/random.ts'
import { replaceHealth } from '../../../src/channels/health/health-store.ts'
import { saveFreeExchanges } from '../../../src/ledger/free-exchange-store.ts'
import type { ExchangeRecord } from '../../../src/ledger/ledger.ts'
import { createTarget } from '../../../src/operations/alerts/targets.ts'
import { valueOf, type OperationContext } from '../../../src/operations/operation.ts'
import {
  applyCatalogue,
  changeAccount,
  createAccount,
  createAdminToken,
  createClientKey,
  createReaderToken,
  creditAccount,
  refundRequest,
  revokeKey,
} from '../operations.ts'
import type { TestAccount } from '../accounts.ts'
import { analyzeTables, bookPast, dayMs, hourMs } from './book-past.ts'
import { makeBusiness, models, type Business, type ModelForm } from './business.ts'
import { drawRefusals, pick, writeAudits, writeOutages } from './past.ts'
import { drawCourse, makeExchange, rareCourses, type Course } from './traffic.ts'

export interface SmallOptions {
  /** Of simulated vendors; one channel leads to a port on which nothing listens. */
  readonly vendorUrl: string
  /** 1,500 by default. */
  readonly requests?: number
  readonly days?: number
}

export interface SmallStore {
  /** Admin tokens by role. */
  readonly tokens: Readonly<Record<'owner' | 'operator' | 'viewer', string>>
  /** Of the account `northwind-support`, which has the most to show. */
  readonly holder: TestAccount
}

/** What sets an account apart, besides its share of the requests. */
interface Plan {
  readonly share: number
  readonly client: string
  readonly multiplierPpm?: number
  readonly fields?: Readonly<Record<string, unknown>>
  /** Its balance in the end; by default at least some USD. */
  readonly leftUsd?: string
  readonly lastStatus?: 'suspended' | 'closed'
}

const plans: Readonly<Record<string, Plan>> = {
  'northwind-support': {
    share: 30,
    client: 'claude-code',
    fields: {
      contact: 'billing@northwind.example',
      note: 'Yearly contract, pays in advance',
      daily_usd: '40',
      rpm: 600,
      alert_below_usd: '20',
      external_id: 'crm-10442',
    },
  },
  'lumen-labs': { share: 22, client: 'openai-python', fields: { contact: 'ops@lumen.example' } },
  'blue-harbor-legal': { share: 12, client: 'anthropic-js', multiplierPpm: 1_200_000 },
  'sparrow-health': { share: 10, client: 'openai-js', fields: { tpm: 200_000 } },
  'civic-data': { share: 8, client: 'litellm' },
  'internal-tools': { share: 7, client: 'curl', multiplierPpm: 0 },
  'juniper-studio': {
    share: 5,
    client: 'opencode',
    fields: { alert_below_usd: '5', contact: 'hello@juniper.example' },
    leftUsd: '1.84',
  },
  'orbit-games': { share: 3, client: 'openai-python', leftUsd: '0' },
  'beta-tester': { share: 1, client: 'curl', lastStatus: 'suspended' },
  'old-pilot': { share: 1, client: 'langchain', lastStatus: 'closed' },
  'harvest-retail': { share: 0, client: '' },
}

interface Holder extends Plan {
  readonly id: string
  readonly name: string
  readonly keyIds: readonly string[]
}

/** Fills an empty store whose schema is current, up to the present moment of the context's clock. */
export async function fillSmallStore(
  context: OperationContext,
  { vendorUrl, requests = 1_500, days = 45 }: SmallOptions,
): Promise<SmallStore> {
  const { database } = context
  const random = seededRandom(6)
  const nowMs = context.clock.now()
  const span = { fromMs: nowMs - days * dayMs, untilMs: nowMs }
  const at = (atMs: number): OperationContext => ({
    ...context,
    clock: { ...context.clock, now: () => Math.floor(atMs) },
  })
  const begin = at(span.fromMs)
  const changedMs = nowMs - 20 * dayMs
  const before = businessOf(vendorUrl, dearer)
  const business = businessOf(vendorUrl, models)
  await applyCatalogue(begin, { text: before.catalogueText })
  await applyCatalogue(at(changedMs), { text: business.catalogueText })
  const tokens = {
    owner: (await createAdminToken(begin, { name: 'Ada (owner)', role: 'owner' })).secret,
    operator: (await createAdminToken(begin, { name: 'on-call', role: 'operator' })).secret,
    viewer: (await createAdminToken(begin, { name: 'finance', role: 'viewer' })).secret,
  }
  const holders: Holder[] = []
  for (const [name, plan] of Object.entries(plans)) holders.push(await addHolder(begin, name, plan))

  // Only the times depend on the present moment: all else is the same at any hour of any day.
  const times = timesOf({ ...span, count: requests }, seededRandom(7))
  const records = times.map((startedAtMs, index) =>
    drawExchange(startedAtMs, {
      course: courseOf(index, random),
      holders,
      business: startedAtMs < changedMs ? before : business,
      random,
    }),
  )
  await payIn(at, span.fromMs, { holders, records })
  await bookPast(database, span, ({ fromMs, untilMs }) =>
    Promise.resolve(records.filter(({ endedAtMs }) => endedAtMs >= fromMs && endedAtMs < untilMs)),
  )
  const [first] = holders
  await refundSome(
    at,
    records.filter(({ accountId }) => accountId === first?.id),
  )
  for (const { id, lastStatus } of holders)
    if (lastStatus !== undefined)
      await changeAccount(at(nowMs - 6 * dayMs), { account: id, status: lastStatus })

  const earlier = { fromMs: span.fromMs, untilMs: nowMs - 2 * hourMs }
  const keys = holders.flatMap(({ id, keyIds }) =>
    keyIds.map((key) => ({ id: key, accountId: id })),
  )
  await writeOutages(database, { business, span: earlier, count: 8, random })
  await writeAudits(database, { span: earlier, count: 30, random })
  await saveFreeExchanges(
    database,
    drawRefusals({ business, span: earlier, count: 40, random, keys }),
  )
  await addTargets(begin, vendorUrl)
  await switchOff(at(nowMs - 3 * hourMs), business)
  await analyzeTables(database)
  return { tokens, holder: await addCredentials(context) }
}

/** Prices as they were before the last change. */
const dearer: Readonly<Record<string, ModelForm>> = Object.fromEntries(
  Object.entries(models).map(([id, form]) => {
    const { input, output } = form.price
    const price = {
      ...form.price,
      input: Number(input) * 1.25,
      ...(output !== undefined && { output: Number(output) * 1.25 }),
    }
    return [id, { ...form, price }]
  }),
)

const unreachable = 'anthropic-eu'

function businessOf(vendorUrl: string, forms: Readonly<Record<string, ModelForm>>): Business {
  const channel = (name: string, rank: number, costFactor?: number) => ({
    vendor: name.startsWith('anthropic') ? 'anthropic' : 'openai',
    url: `${vendorUrl}/${name}`,
    credential: `credential-of-${name}`,
    rank,
    ...(costFactor !== undefined && { costFactor }),
  })
  return makeBusiness(forms, {
    'anthropic-main': channel('anthropic-main', 0, 0.85),
    // Nothing listens on the port for discarded data, so the gateway finds this channel off.
    [unreachable]: { ...channel(unreachable, 0, 0.9), url: 'http://127.0.0.1:9' },
    'anthropic-reserve': channel('anthropic-reserve', 1),
    'openai-main': channel('openai-main', 0, 0.8),
    'openai-azure': channel('openai-azure', 0, 0.95),
    'openai-reserve': channel('openai-reserve', 1),
  })
}

async function addHolder(context: OperationContext, name: string, plan: Plan): Promise<Holder> {
  const { multiplierPpm = 1_000_000, fields = {} } = plan
  const { id } = await createAccount(context, {
    name,
    price_multiplier: multiplierPpm / 1_000_000,
    ...fields,
  })
  const production = await createClientKey(context, { account: id, name: 'production' })
  const limited = await createClientKey(context, {
    account: id,
    name: 'laptop',
    models: ['claude-haiku-5-5', 'gpt-6.1-terra'],
    monthly_usd: '25',
    rpm: 60,
  })
  const revoked = await createClientKey(context, { account: id, name: 'leaked in a repository' })
  await revokeKey(context, { id: revoked.key.id, kind: 'client' })
  return { ...plan, id, name, keyIds: [production.key.id, limited.key.id] }
}

/** More by day than by night, on weekdays, and from month to month. The last ones are a few minutes old. */
function timesOf(
  { fromMs, untilMs, count }: { fromMs: number; untilMs: number; count: number },
  random: Random,
): number[] {
  const times: number[] = []
  while (times.length < count) {
    const place = random()
    const atMs = Math.floor(fromMs + place * (untilMs - fromMs - 240_000))
    const moment = new Date(atMs)
    const isWorkday = moment.getUTCDay() % 6 !== 0
    const daylight = Math.max(0, Math.sin(((moment.getUTCHours() - 5) / 16) * Math.PI))
    const chance = (0.15 + 0.85 * daylight) * (isWorkday ? 1 : 0.45) * (0.45 + 0.55 * place)
    if (random() < chance) times.push(atMs)
  }
  return times.sort((left, right) => left - right)
}

/** Every way in which an exchange can end comes often, whatever chance draws. */
function courseOf(index: number, random: Random): Course {
  const place = index % 40 === 7 ? Math.floor(index / 40) % rareCourses.length : -1
  return rareCourses[place] ?? drawCourse(random)
}

interface Drawing {
  readonly course: Course
  readonly holders: readonly Holder[]
  readonly business: Business
  readonly random: Random
}

/** How often each model is asked for, in the order of the catalogue. */
const modelShares = [14, 34, 20, 16, 11, 5]

function drawExchange(
  startedAtMs: number,
  { course, holders, business, random }: Drawing,
): ExchangeRecord {
  const holder = pickBy(
    holders,
    holders.map(({ share }) => share),
    random,
  )
  const offer = pickBy(business.offers, modelShares, random)
  const ways = business.waysOf(offer)
  // Two accounts of three are on the second channel of the first rank.
  const order = holders.indexOf(holder) % 3 === 0 ? [0, 1, 2] : [1, 0, 2]
  return makeExchange({
    random,
    course,
    startedAtMs,
    accountId: holder.id,
    keyId: pick(holder.keyIds, random),
    multiplierPpm: holder.multiplierPpm ?? 1_000_000,
    client: holder.client,
    offer,
    ways: order.flatMap((place) => ways[place] ?? []),
  })
}

function pickBy<Item>(items: readonly Item[], shares: readonly number[], random: Random): Item {
  let place = random() * shares.reduce((sum, share) => sum + share, 0)
  for (const [index, item] of items.entries()) {
    const share = shares[index] ?? 0
    if (place < share) return item
    place -= share
  }
  return pick(items, random)
}

/** Each account pays in every two weeks; a correction leaves exactly what its plan says. */
async function payIn(
  at: (atMs: number) => OperationContext,
  startMs: number,
  {
    holders,
    records,
  }: { readonly holders: readonly Holder[]; readonly records: readonly ExchangeRecord[] },
): Promise<void> {
  for (const { id, leftUsd } of holders) {
    const spent = records
      .filter(({ accountId }) => accountId === id)
      .reduce<Picos>((sum, { amountPicos }) => picos(sum + amountPicos), zeroPicos)
    const payments = 3n
    const each = picos((spent / payments / picosPerUsd / 5n + 2n) * 5n * picosPerUsd)
    for (let index = 0; index < Number(payments); index++)
      await creditAccount(at(startMs + index * 14 * dayMs), {
        account: id,
        amount_usd: formatUsd(each),
        reference: `invoice-${index + 1}`,
        note: 'Bank transfer',
      })
    if (leftUsd === undefined) continue
    const left = subtractPicos(picos(each * payments), spent)
    const wanted = picos(BigInt(Math.round(Number(leftUsd) * 100)) * (picosPerUsd / 100n))
    await creditAccount(at(startMs + 30 * dayMs), {
      account: id,
      amount_usd: `-${formatUsd(subtractPicos(left, wanted))}`,
      reference: 'correction-1',
      note: 'Correction: the third transfer was returned by the bank',
    })
  }
}

/** Gives back a charge in full, one in part, and one that had been cut off. */
async function refundSome(
  at: (atMs: number) => OperationContext,
  records: readonly ExchangeRecord[],
): Promise<void> {
  const charged = records.filter(({ amountPicos }) => amountPicos > 1_000_000n)
  const whole = charged.filter(({ ending }) => ending === 'completed')
  const cut = charged.find(({ ending }) => ending === 'upstream_cut')
  for (const [index, record] of [whole[20], whole.at(-30), cut].entries()) {
    if (record === undefined) continue
    await refundRequest(at(record.endedAtMs + 2 * hourMs), {
      request: record.exchangeId,
      ...(index === 1 && { amount_usd: formatUsd(picos(record.amountPicos / 2n)) }),
      reason: ['wrong answer', 'half of it was repeated', 'the vendor cut it off'][index],
    })
  }
}

/** As if the gateway had been stopped while the channel did not answer: it begins with a probe. */
async function switchOff(
  { database, clock }: OperationContext,
  { offers }: Business,
): Promise<void> {
  const atMs = clock.now()
  const waits = { reasoning: { hours: [] }, plain: { hours: [] } }
  const detail = { relapse: 2, restForMs: 0, baselines: [], waits }
  const saved = offers
    .filter(({ vendor }) => vendor === 'anthropic')
    .map(({ id }) => ({
      channel: unreachable,
      model: id,
      mode: 'off' as const,
      why: 'failures_in_a_row',
      sinceMs: atMs,
      savedAtMs: atMs,
      detail: JSON.stringify(detail),
    }))
  await database.transact((transaction) => replaceHealth(transaction, saved))
}

async function addTargets(context: OperationContext, vendorUrl: string): Promise<void> {
  for (const target of [
    {
      name: 'on-call',
      format: 'webhook',
      address: `${vendorUrl}/alerts`,
      min_severity: 'critical',
    },
    { name: 'team-chat', format: 'slack', address: `${vendorUrl}/chat` },
  ])
    valueOf(await createTarget(context, target))
}

async function addCredentials(context: OperationContext): Promise<SmallStore['holder']> {
  const account = 'northwind-support'
  const key = await createClientKey(context, { account, name: 'sandbox' })
  const reader = await createReaderToken(context, { account, name: 'account page' })
  return {
    id: key.key.account_id ?? '',
    name: account,
    key: key.secret,
    token: reader.secret,
  }
}

/**
 * Each kind of alert from its cause to its message: something happens to a gateway, a signed message comes to
 * the receiver, and another one when it is over. Each kind has at least one row, and a message comes once.
 * The console says each in Chinese from the facts of that message.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { hourMs } from '../../src/base/clock.ts'
import { addPicos, formatUsd, parseUsd, zeroPicos } from '../../src/base/money.ts'
import { Secret } from '../../src/base/secret.ts'
import { makeSigningKey } from '../../src/ledger/proof/signing-keys.ts'
import { alertKinds, type AlertKind, type Finding } from '../../src/operations/alerts/alert-kind.ts'
import { alertEndpoints } from '../../src/operations/alerts/endpoints.ts'
import type { Resolve } from '../../src/http/client/checked-lookup.ts'
import { bookPayment } from '../../src/operations/payments/book-payment.ts'
import { backupStore } from '../../src/operations/store/backup.ts'
import { storeEndpoints } from '../../src/operations/store/endpoints.ts'
import { valueOf } from '../../src/operations/operation.ts'
import {
  applyCatalogue,
  changeAccount,
  createClientKey,
  creditAccount,
  editKey,
  exportCatalogue,
  showAccount,
  switchChannel,
} from '../support/operations.ts'
import type { CatalogueChange } from '../support/catalogues.ts'
import type { TestCertificate } from '../support/certificate.ts'
import { inChinese } from '../support/console/chinese.ts'
import { eventually } from '../support/eventually.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { scenario, type Scenario, type ScenarioOptions } from '../support/scenario.ts'
import {
  expiredCertificate,
  startTlsFront,
  trustedCertificate,
  unknownCertificate,
} from '../support/tls-front.ts'
import { dataOf, startReceiver, type Received, type Receiver } from './harness.ts'

interface World {
  readonly gateway: Scenario
  readonly clock: ManualClock
  /** Time passes; the gateway does what it does meanwhile. */
  pass(seconds: number): Promise<void>
}

interface Case {
  readonly what: string
  readonly options?: ScenarioOptions
  /** Returns what the alert is about. */
  readonly cause: (world: World) => Promise<string>
  /** Facts that the message has. */
  readonly facts?: Readonly<Record<string, unknown>>
  /** The type of the last message, where it is not the kind and `.resolved`. */
  readonly over?: RegExp
  /** Absent where the alert has no end. */
  readonly end?: (world: World) => Promise<unknown>
}

const main = 'alpha-main'
const reserve = 'alpha-reserve'
const place = `${main} large-1`
const models = ['large-1', 'small-1']

/** Sends requests one after the other until one has this status. */
async function askUntil({ gateway }: World, status: number, key?: string): Promise<void> {
  for (let count = 0; count < 200; count++) {
    const ask = { format: 'messages', isStream: false, ...(key !== undefined && { key }) } as const
    if ((await gateway.ask(ask)).status === status) return
  }
  assert.fail(`no request got ${status}`)
}

/** Requests that all run at the same time. */
async function askAtOnce({ gateway }: World, count: number): Promise<void> {
  const asks = Array.from({ length: count }, () =>
    gateway.ask({ format: 'messages', isStream: false }),
  )
  await Promise.all(asks)
}

/** Ten requests are half of this limit. */
async function useHalf(world: World, limit: 'daily_usd' | 'monthly_usd'): Promise<string> {
  const { context, account } = world.gateway
  for (let count = 0; count < 10; count++)
    await world.gateway.ask({ format: 'messages', isStream: false })
  const { spend } = await showAccount(context, { account: account.id })
  const twice = addPicos(
    parseUsd(spend.today_usd) ?? zeroPicos,
    parseUsd(spend.today_usd) ?? zeroPicos,
  )
  await changeAccount(context, { account: account.id, [limit]: formatUsd(twice) })
  return account.id
}

const credit = ({ gateway: { context, account } }: World) =>
  creditAccount(context, { account: account.id, amount_usd: '100', reference: 'bank-1' })

const mend = ({ gateway }: World): Promise<void> => Promise.resolve(gateway.sandbox.faults.clear())

/** The vendor answers so on these channels, and a request meets it. */
function failing(fault: string, ...channels: readonly string[]) {
  return async (world: World): Promise<void> => {
    for (const channel of channels) world.gateway.sandbox.faults.set(channel, fault)
    await askAtOnce(world, 1)
  }
}

const words = 'piece=the%20'

/** 20 requests of about 1,200 tokens of plain text, which the vendor counts as it is told. */
async function askWithLongPrompts({ gateway }: World, sandbox: string): Promise<void> {
  const prompt = 'word '.repeat(1_008)
  for (let count = 0; count < 20; count++)
    await gateway.ask({ format: 'messages', isStream: false, prompt, sandbox })
}

/** Requests of 100 KB; the vendor counts what it is told. */
async function askWithTokens(
  { gateway }: World,
  { input, cached }: { readonly input: number; readonly cached: number },
  requests: number,
): Promise<void> {
  const prompt = 'x'.repeat(100_000)
  const sandbox = `input=${input}; cached=${cached}`
  for (let count = 0; count < requests; count++) {
    const { status } = await gateway.ask({ format: 'messages', isStream: false, prompt, sandbox })
    assert.equal(status, 200)
  }
}

function channelCase(fault: string, subject: string, facts: Case['facts']): Case {
  return {
    what: `the vendor answers ${fault}`,
    async cause(world) {
      await failing(fault, main)(world)
      return subject
    },
    facts: { channel: main, vendor: 'alpha', ...facts },
    over: /^channel\.back$/,
    end: mend,
  }
}

const front = await startTlsFront(trustedCertificate)
after(() => front.close())

const resolve: Resolve = (_host, done) => done(null, [{ address: '127.0.0.1', family: 4 }])

function named(more: object): CatalogueChange {
  return { named: { [main]: { url: `https://vendor.example:${front.port}/${main}`, ...more } } }
}

/** The main channel has a name and a certificate, with which something is wrong until the end. */
function throughTls(what: string, why: string): Case {
  return {
    what,
    async cause(world) {
      front.leadTo(world.gateway.sandbox)
      await askAtOnce(world, 1)
      return main
    },
    facts: { channel: main, vendor: 'alpha', models, why },
    over: /^channel\.back$/,
  }
}

function certificateCase(what: string, why: string, bad: TestCertificate): Case {
  const row = throughTls(`the certificate ${what}`, why)
  return {
    ...row,
    options: { resolve, channels: named({ allow_private: true }) },
    cause(world) {
      front.show(bad)
      return row.cause(world)
    },
    end: () => Promise.resolve(front.show(trustedCertificate)),
  }
}

function keyCase(period: 'day' | 'month' | 'total'): Case {
  const field = { day: 'daily_usd', month: 'monthly_usd', total: 'total_usd' }[period]
  let keyId = ''
  return {
    what: `a key has used its limit (${period})`,
    async cause(world) {
      const { context, account } = world.gateway
      const made = await createClientKey(context, { account: account.id, [field]: '0.005' })
      keyId = made.key.id
      await askUntil(world, 429, made.secret)
      return `${keyId} ${period}`
    },
    facts: { limit_usd: '0.005' },
    end: ({ gateway: { context } }) => editKey(context, { id: keyId, [field]: '5' }),
  }
}

const cases: { readonly [Kind in Exclude<AlertKind, 'store.outage'>]: readonly Case[] } = {
  'account.balance_low': [
    {
      what: 'the balance is below the threshold of the account',
      options: { account: { balance_usd: '4.2' } },
      async cause({ gateway: { context, account } }) {
        await changeAccount(context, { account: account.id, alert_below_usd: '5' })
        return account.id
      },
      facts: { balance_usd: '4.2', alert_below_usd: '5' },
      end: credit,
    },
  ],
  'account.running_out': [
    {
      what: 'the balance lasts about 12 hours at the spend of the day',
      options: { account: { balance_usd: '10' }, settings: { alert_run_out: '18h' } },
      async cause(world) {
        const { gateway } = world
        const { context, account } = gateway
        await askAtOnce(world, 4)
        await world.pass(60)
        const [row] = await context.database.query(
          'SELECT SUM(-amount_picos) AS spent FROM entry WHERE account_id = $1 AND amount_picos < 0',
          [account.id],
        )
        // The balance is half of today's spend.
        await context.database.query('UPDATE account SET balance_picos = $2 WHERE id = $1', [
          account.id,
          BigInt(String(row?.['spent'])) / 2n,
        ])
        return account.id
      },
      facts: { hours_left: 12 },
      end: credit,
    },
  ],
  'account.exhausted': [
    {
      what: 'requests get 402',
      options: { account: { balance_usd: '0.01' } },
      async cause(world) {
        await askUntil(world, 402)
        return world.gateway.account.id
      },
      end: credit,
    },
  ],
  'account.limit_used': [
    {
      what: 'an account has used half of its daily limit',
      cause: (world) => useHalf(world, 'daily_usd'),
      facts: { step: 50, limit_of: 'day', period: '2026-11-21' },
    },
    {
      what: 'an account has used half of its monthly limit',
      cause: (world) => useHalf(world, 'monthly_usd'),
      facts: { step: 50, limit_of: 'month', period: '2026-11' },
    },
  ],
  'account.daily_limit_reached': [
    {
      what: 'requests get 429 until midnight',
      options: { account: { daily_usd: '0.005' } },
      async cause(world) {
        await askUntil(world, 429)
        return world.gateway.account.id
      },
      facts: { limit_usd: '0.005', period: '2026-11-21' },
      // The next day begins twelve hours later.
      end: ({ clock }) => Promise.resolve(clock.advance(12 * 3_600_000)),
    },
  ],
  'account.monthly_limit_reached': [
    {
      what: 'requests get 429 until the month ends',
      options: { account: { monthly_usd: '0.005' } },
      async cause(world) {
        await askUntil(world, 429)
        return world.gateway.account.id
      },
      facts: { limit_usd: '0.005', period: '2026-11' },
      // The next month begins nine and a half days later.
      end: ({ clock }) => Promise.resolve(clock.advance(9.5 * 24 * 3_600_000)),
    },
  ],
  'key.limit_reached': [keyCase('day'), keyCase('month'), keyCase('total')],
  'channel.off': [channelCase('error=500', place, { models: ['large-1'] })],
  'channel.credential_refused': [
    channelCase('error=401', main, { models, why: 'credential_refused' }),
  ],
  'channel.certificate_expired': [
    certificateCase('has expired', 'certificate_expired', expiredCertificate),
  ],
  'channel.certificate_refused': [
    certificateCase('is of an unknown authority', 'certificate_refused', unknownCertificate),
  ],
  'channel.address_refused': [
    {
      ...throughTls('its name leads into a private network', 'address_refused'),
      options: { resolve, channels: named({}) },
      async end({ gateway: { context } }) {
        const text = await exportCatalogue(context)
        await applyCatalogue(context, {
          text: text.replace(`  ${main}:\n`, `  ${main}:\n    allow_private: true\n`),
        })
      },
    },
  ],
  'channel.no_credit': [channelCase('error=402', main, { models, why: 'no_credit' })],
  'channel.model_missing': [
    channelCase('error=404', place, { models: ['large-1'], why: 'model_missing' }),
  ],
  'channel.limit_ignored': [
    {
      what: 'answers are longer than they may be',
      async cause({ gateway }) {
        const ask = { format: 'messages', isStream: true, maxTokens: 1 } as const
        for (let count = 0; count < 3; count++)
          await gateway.ask({ ...ask, sandbox: `output=200; ${words}; ignore_limits` })
        return place
      },
      facts: { channel: main, models: ['large-1'], fields: ['max_tokens'] },
      // The operator says that the vendor keeps no limit.
      async end({ gateway: { context } }) {
        const text = await exportCatalogue(context)
        await applyCatalogue(context, {
          text: text.replace(`  ${main}:\n`, `  ${main}:\n    output_limit: []\n`),
        })
      },
    },
  ],
  'channel.counts_high': [
    {
      what: 'twenty prompts of text are counted as three times their usual tokens',
      async cause(world) {
        await askWithLongPrompts(world, 'input=3600')
        return main
      },
      facts: { channel: main, ratio: 3 },
      end: (world) => askWithLongPrompts(world, 'input=1200'),
    },
  ],
  'channel.cache_fallen': [
    {
      what: 'less than half of the usual input comes from the cache',
      options: { account: { balance_usd: '1000' } },
      async cause(world) {
        await askWithTokens(world, { input: 30_000, cached: 70_000 }, 12)
        world.clock.jumpWallTime(24 * 3_600_000)
        await askWithTokens(world, { input: 70_000, cached: 30_000 }, 2)
        return place
      },
      facts: { channel: main, models: ['large-1'], hit_rate: 0.3, week_hit_rate: 0.7 },
      end: (world) => askWithTokens(world, { input: 10_000, cached: 90_000 }, 2),
    },
  ],
  'model.reserve_only': [
    {
      what: 'an operator has disabled the main channel',
      async cause({ gateway: { context } }) {
        await switchChannel(context, { channel: main, override: 'disabled' })
        return 'large-1'
      },
      facts: { model: 'large-1' },
      end: ({ gateway: { context } }) =>
        switchChannel(context, { channel: main, override: 'enabled' }),
    },
  ],
  'model.no_usable_channel': [
    {
      what: 'every channel is off',
      async cause(world) {
        await failing('error=401', main, reserve)(world)
        return 'large-1'
      },
      facts: { model: 'large-1' },
      // Whichever is back first.
      over: /^channel\.back$|^model\.no_usable_channel\.resolved$/,
      end: mend,
    },
    {
      what: 'no channel can be loaded, because the variables with their credentials are not set',
      async cause({ gateway: { context } }) {
        const text = await exportCatalogue(context)
        await applyCatalogue(context, {
          text: text.replaceAll(/credential: sealed:.*/g, 'credential: env:NOT_SET_ANYWHERE'),
        })
        return 'large-1'
      },
      facts: { model: 'large-1' },
      async end({ gateway: { context } }) {
        const text = await exportCatalogue(context)
        await applyCatalogue(context, {
          text: text.replaceAll('env:NOT_SET_ANYWHERE', 'a-new-secret'),
        })
      },
    },
  ],
  'ledger.audit_failed': [
    {
      what: 'a balance was changed behind the ledger',
      options: { account: { balance_usd: '10' } },
      async cause({ gateway: { context } }) {
        await context.database.query('UPDATE account SET balance_picos = balance_picos + 1')
        return ''
      },
      facts: { differences: 1 },
      end: ({ gateway: { context } }) =>
        context.database.query('UPDATE account SET balance_picos = balance_picos - 1'),
    },
    {
      what: 'a table that the audit reads is not there',
      async cause({ gateway: { context } }) {
        await rename(context, 'exchange_cut', 'moved')
        return 'not_run'
      },
      end: ({ gateway: { context } }) => rename(context, 'moved', 'exchange_cut'),
    },
  ],
  'ledger.not_sealed': [
    {
      what: 'the master key does not open the key that signs the books',
      async cause({ gateway: { context, account }, clock }) {
        const masterKey = new Secret('6'.repeat(64))
        await context.database.transact((transaction) =>
          makeSigningKey(transaction, { masterKey, nowMs: clock.now() }),
        )
        const before = new ManualClock(clock.now() - 4 * hourMs)
        const early = { amount_usd: '1', reference: 'early', account: account.id }
        await creditAccount({ ...context, clock: before }, early)
        return ''
      },
      facts: { sealed_until: null, hours: null },
      end: ({ gateway: { context } }) =>
        storeEndpoints.rotateSigningKey.operation(context, {}).then(valueOf),
    },
  ],
  'account.money_taken_back': [
    {
      what: 'a dispute takes back what the account has spent',
      options: { account: { balance_usd: '1' } },
      async cause({ gateway: { context, account } }) {
        const about = { payment: 'pi_1', currency: 'usd' }
        await bookPayment(context, { ...about, kind: 'paid', account: account.id, cents: 500 })
        const dispute = { kind: 'disputed', dispute: 'dp_1', cents: 800, isWon: false } as const
        await bookPayment(context, { ...about, ...dispute })
        return account.id
      },
      facts: { payment: 'pi_1', balance_usd: '-2' },
      end: ({ gateway: { context, account } }) =>
        changeAccount(context, { account: account.id, status: 'active' }),
    },
  ],
  'payment.not_booked': [
    {
      what: 'a payment names an account that is not there',
      async cause({ gateway: { context } }) {
        const about = { payment: 'pi_2', currency: 'usd' }
        await bookPayment(context, { ...about, kind: 'paid', account: 'acc_gone', cents: 500 })
        return 'pi_2'
      },
      facts: { amount: '5.00 USD', reason: 'unknown_account' },
    },
  ],
  'backup.too_old': [
    {
      what: 'there is no backup',
      options: { settings: { backup_max_age: '1d' } },
      cause: () => Promise.resolve(''),
      facts: { last_backup_at: null, hours: null },
      end: async ({ gateway: { context, storeUrl } }) =>
        valueOf(await backupStore(context, { file: `${storeUrl.slice('sqlite:'.length)}.copy` })),
    },
  ],
  'alert.test': [
    {
      what: 'an operator tests the target',
      async cause({ gateway: { context } }) {
        const test = { target: 'pager' }
        return valueOf(await alertEndpoints.test.operation(context, test)).target
      },
      facts: { target: 'pager' },
    },
  ],
}

function rename({ database }: Scenario['context'], from: string, to: string): Promise<void> {
  return database.transact((transaction) =>
    transaction.script(`ALTER TABLE ${from} RENAME TO ${to}`),
  )
}

async function openWorld(
  { settings, ...options }: ScenarioOptions,
  receiver: Receiver,
): Promise<World> {
  const clock = new ManualClock()
  const gateway = await scenario({
    clock,
    ...options,
    settings: { alert_networks: '127.0.0.0/8', ...settings },
  })
  const target = { name: 'pager', format: 'webhook', address: receiver.url }
  valueOf(await alertEndpoints.create.operation(gateway.context, target))
  const { alerting } = gateway.app
  return {
    gateway,
    clock,
    async pass(seconds) {
      for (let passed = 0; passed < seconds; passed += 5) {
        clock.advance(5_000)
        await gateway.app.refresh()
        await alerting.round()
        await alerting.settled()
      }
    },
  }
}

function typeOf(message: Received): string {
  return (JSON.parse(message.body) as { readonly type: string }).type
}

async function run(
  kind: AlertKind,
  { options = {}, cause, end, facts, over: overType }: Case,
): Promise<void> {
  const receiver = await startReceiver()
  const world = await openWorld(options, receiver)
  const find = (state: string, field: string, value: unknown): readonly Received[] =>
    receiver.received.filter((one) => {
      const data = dataOf(one)
      return data['state'] === state && data[field] === value
    })
  const begun = (subject: string): readonly Received[] =>
    find('firing', 'subject', subject).filter((one) => dataOf(one)['kind'] === kind)
  /** Time passes until there is such a message. */
  const reach = async (look: () => readonly Received[]): Promise<Received> => {
    const [message] = await eventually(
      'a message',
      async () => {
        await world.pass(5)
        return look()
      },
      ({ length }) => length > 0,
    )
    assert.ok(message !== undefined)
    return message
  }
  try {
    const subject = await cause(world)
    const message = await reach(() => begun(subject))
    const data = dataOf(message)
    assert.equal(typeOf(message), kind)
    assert.equal(data['kind'], kind)
    assert.equal(data['severity'], alertKinds[kind])
    const told = data['facts'] as Finding['facts']
    for (const part of ['title', 'text']) inChinese(`alerts.${kind}.${part}`, told)
    for (const [name, value] of Object.entries(facts ?? {}))
      assert.deepEqual(told[name], value, name)
    await world.pass(30)
    assert.equal(begun(subject).length, 1, 'one message while it lasts')
    if (end === undefined) return
    await end(world)
    const over = await reach(() => find('resolved', 'id', data['id']))
    if (overType === undefined) assert.equal(typeOf(over), `${kind}.resolved`)
    else assert.match(typeOf(over), overType)
    assert.notEqual(dataOf(over)['resolved_at'], null)
  } finally {
    await world.gateway.close()
    await receiver.close()
  }
}

for (const [kind, rows] of Object.entries(cases))
  for (const row of rows) test(`${kind}: ${row.what}`, () => run(kind as AlertKind, row))

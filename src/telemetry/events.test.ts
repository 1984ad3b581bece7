/** What events count and what they write: closed words and numbers, never what somebody else wrote. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { GatewayError, StoreOutage } from '../base/errors.ts'
import { picos } from '../base/money.ts'
import { createTelemetry, type ExchangeSummary } from './events.ts'
import { createMetrics } from './metrics.ts'
import { unknownCallerLinesMax } from './unknown-caller-lines.ts'

const canary = 'canary-7f3a'

function start(level = 'trace') {
  const lines: Record<string, unknown>[] = []
  const log = pino(
    { level, formatters: { level: (label) => ({ level: label }) } },
    {
      write(line: string) {
        lines.push(JSON.parse(line) as Record<string, unknown>)
      },
    },
  )
  const metrics = createMetrics()
  const clock = new ManualClock()
  const telemetry = createTelemetry({
    log,
    metrics,
    clock,
  })
  return { lines, clock, telemetry, text: () => metrics.registry.metrics() }
}

const summary: ExchangeSummary = {
  exchangeId: 'ex_1',
  accountId: 'acc_1',
  keyId: 'key_1',
  vendor: 'alpha',
  model: 'large-1',
  operation: 'messages.create',
  channel: 'alpha-main',
  ending: 'completed',
  status: 200,
  attemptCount: 1,
  durationMs: 12.7,
  firstEventMs: 7,
  amountPicos: picos(1_500_000_000n),
  operatorCostPicos: picos(0n),
  isEstimated: false,
  tokens: { input: 1_200, cache_read: 300 },
}

test('a fault is logged with name, code and stack frames, never with its message', () => {
  const messages = [
    canary,
    `\n${canary}`,
    `first line\n    at ${canary} (file:///somewhere.ts:1:1)`,
    `a\n at ${canary}:1:1\n    at ${canary}`,
  ]
  for (const message of messages) {
    const { lines, telemetry } = start()
    const late = new Error(`early ${canary}`)
    // V8 formats the stack when it is first read, with the message of that moment.
    const stack = late.stack ?? ''
    assert.ok(stack.includes('early'))
    late.message = message
    const causes = [
      new Error(message),
      new TypeError(message, { cause: new Error(canary) }),
      new GatewayError('gateway.internal', message),
      Object.assign(new Error(message), { code: 'ECONNRESET', body: canary, path: canary }),
      late,
    ]
    for (const cause of causes) telemetry.fault(cause, 'settle')
    for (const line of lines) {
      assert.doesNotMatch(JSON.stringify(line), new RegExp(canary))
      assert.deepEqual([line['level'], line['msg'], line['where']], ['error', 'fault', 'settle'])
    }
    assert.deepEqual(
      lines.map((line) => [line['error'], line['code']]),
      [
        ['Error', undefined],
        ['TypeError', undefined],
        ['GatewayError', 'gateway.internal'],
        ['Error', 'ECONNRESET'],
        ['Error', undefined],
      ],
    )
    const [first] = lines
    assert.ok(Array.isArray(first?.['frames']) && first['frames'].length > 0)
    assert.match(String((first['frames'] as unknown[])[0]), /^at .*events\.test\.ts/)
    // Where the message cannot be distinguished from the places, there are none.
    const isFound = stack.includes(message)
    const frames = lines[4]?.['frames'] as readonly string[] | undefined
    assert.equal((frames?.length ?? 0) > 0, isFound)
  }
})

test('a thrown value that is no error is logged by its type only', () => {
  const { lines, telemetry } = start()
  for (const thrown of [canary, { message: canary }, undefined, 7]) telemetry.fault(thrown, 'api')
  assert.deepEqual(
    lines.map((line) => line['error']),
    ['string', 'object', 'undefined', 'number'],
  )
  assert.doesNotMatch(JSON.stringify(lines), new RegExp(canary))
})

test('an ended exchange is one line of ids and numbers; ordinary ones only at debug', () => {
  const { lines, telemetry } = start()
  telemetry.exchangeEnded(summary)
  telemetry.exchangeEnded({ ...summary, attemptCount: 2 })
  telemetry.exchangeEnded({ ...summary, ending: 'upstream_cut', amountPicos: picos(0n) })
  assert.deepEqual(
    lines.map((line) => [line['level'], line['msg'], line['ending'], line['costUsd']]),
    [
      ['debug', 'exchange ended', 'completed', 0.0015],
      ['info', 'exchange ended', 'completed', 0.0015],
      ['info', 'exchange ended', 'upstream_cut', 0],
    ],
  )
  assert.equal(lines[0]?.['durationMs'], 13)
  const quiet = start('info')
  quiet.telemetry.exchangeEnded(summary)
  assert.deepEqual(quiet.lines, [])
})

test('a refused request of a known caller is one line; a flood of them has bounded lines', () => {
  const { lines, clock, telemetry } = start('info')
  const caller = { accountId: 'acc_1', keyId: 'key_1', model: 'large-1' }
  const code = 'access.rate_limited'
  for (let index = 1; index <= 1_000; index++)
    telemetry.refused({ ...caller, code, exchangeId: `ex_${index}` })
  telemetry.refused({ ...caller, accountId: 'acc_2', code, exchangeId: 'ex_other' })
  assert.deepEqual(
    lines.map((line) => line['exchangeId']),
    [...Array.from({ length: 10 }, (_, index) => `ex_${index + 1}`), 'ex_other'],
  )
  const first = { level: 'info', msg: 'request refused', ...caller, code, exchangeId: 'ex_1' }
  assert.partialDeepStrictEqual(lines[0], first)
  clock.advance(1_000)
  const last = lines.slice(11)
  assert.deepEqual(
    last.map((line) => [line['msg'], line['accountId'], line['code'], line['leftOut']]),
    [['more requests refused', 'acc_1', code, 990]],
  )
  telemetry.refused({ ...caller, code, exchangeId: 'ex_later' })
  assert.equal(lines.at(-1)?.['exchangeId'], 'ex_later')
})

test('a flood of requests of unknown callers has bounded lines that count the rest', () => {
  const { lines, clock, telemetry } = start('info')
  const code = 'access.credential_invalid'
  const flood = (addresses: number): void => {
    for (let times = 0; times < 5; times++)
      for (let index = 0; index < addresses; index++) {
        const address = `2001:db8:0:${index.toString(16)}::${times + 1}`
        telemetry.refused({ code, exchangeId: `ex_${index}_${times}`, address })
      }
  }
  flood(2)
  assert.equal(lines.length, 2 * 3, 'three of each network')
  assert.partialDeepStrictEqual(lines[0], { level: 'info', msg: 'request refused', code })
  telemetry.failedSignIn({ kind: 'admin', address: '192.0.2.1' })
  assert.partialDeepStrictEqual(lines.at(-1), { code, kind: 'admin', address: '192.0.2.1' })
  telemetry.failedSignIn({ kind: 'client', address: '192.0.2.2' })
  assert.equal(lines.length, 7, 'the refusal of a model route is its line')
  flood(1_000)
  assert.equal(lines.length, unknownCallerLinesMax)
  clock.advance(60_000)
  const leftOut = 10 + 5_000 + 1 - unknownCallerLinesMax
  assert.partialDeepStrictEqual(lines.at(-1), { msg: 'more requests refused', code, leftOut })
  flood(1)
  assert.equal(lines.length, unknownCallerLinesMax + 1 + 3)
})

test('counters have charges, the operator’s costs and endings', async () => {
  const { telemetry, text } = start('silent')
  telemetry.exchangeEnded(summary)
  telemetry.exchangeEnded({
    ...summary,
    ending: 'upstream_cut',
    amountPicos: picos(0n),
    operatorCostPicos: picos(2_000_000_000_000n),
    isEstimated: true,
  })
  telemetry.freeExchangeEnded({
    vendor: 'alpha',
    operation: 'models.list',
    ending: 'completed',
    status: 200,
  })
  telemetry.committed({ exchangeCount: 30, durationMs: 2, isStored: true })
  telemetry.committed({ exchangeCount: 9, durationMs: 700, isStored: false })
  telemetry.fault(new GatewayError('ledger.unavailable', 'The store does not answer.'), 'settle')
  telemetry.attemptEnded('alpha-main', 'hard')
  telemetry.failedOver('alpha')
  telemetry.refused({ code: 'access.rate_limited', exchangeId: 'ex_2' })
  telemetry.failedSignIn({ kind: 'reader' })
  telemetry.channelChanged('alpha-main', { model: 'm', from: 'on', to: 'off', why: 'w' })
  const place = { channel: 'alpha-main', model: 'm', vendor: 'alpha' }
  telemetry.channelRefused(place, 'credential_refused')
  const alert = { severity: 'warning', subject: 'alpha-main m', title: 'It is off' } as const
  telemetry.alertChanged(alert, 'channel.off')
  telemetry.probeEnded('alpha-main', 'ok')
  telemetry.checkCost('alpha-main', picos(3_000_000n))
  telemetry.firstEvent({ channel: 'alpha-main', model: 'm' }, 200)
  telemetry.journalDropped('change')
  const shown = await text()
  const route = 'vendor="alpha",model="large-1",operation="messages.create"'
  for (const line of [
    `turnpike_exchanges_total{${route},ending="completed",status="200"} 1`,
    `turnpike_exchanges_total{${route},ending="upstream_cut",status="200"} 1`,
    `turnpike_exchange_duration_seconds_bucket{le="0.1",${route}} 2`,
    'turnpike_exchange_first_event_seconds_count{vendor="alpha",model="large-1"} 2',
    'turnpike_tokens_total{vendor="alpha",model="large-1",channel="alpha-main",class="input"} 2400',
    'turnpike_tokens_total{vendor="alpha",model="large-1",channel="alpha-main",class="cache_read"} 600',
    'turnpike_free_exchanges_total{vendor="alpha",operation="models.list",ending="completed",status="200"} 1',
    'turnpike_commit_duration_seconds_bucket{le="0.0025",result="stored"} 1',
    'turnpike_commit_duration_seconds_count{result="failed"} 1',
    'turnpike_commit_exchanges_sum 30',
    'turnpike_store_errors_total{place="settle"} 1',
    'turnpike_charged_usd_total{vendor="alpha"} 0.0015',
    'turnpike_operator_cost_usd_total{vendor="alpha"} 2',
    'turnpike_estimated_charges_total{vendor="alpha"} 1',
    'turnpike_attempts_total{channel="alpha-main",outcome="hard"} 1',
    'turnpike_failovers_total{vendor="alpha"} 1',
    'turnpike_refusals_total{code="access.rate_limited"} 1',
    'turnpike_failed_sign_ins_total{kind="reader"} 1',
    'turnpike_channel_state_changes_total{channel="alpha-main",to="off",why="w"} 1',
    'turnpike_probes_total{channel="alpha-main",outcome="ok"} 1',
    'turnpike_check_cost_usd_total{channel="alpha-main"} 0.000003',
    'turnpike_first_event_seconds_bucket{le="0.25",channel="alpha-main",model="m"} 1',
    'turnpike_channel_journal_dropped_total{kind="change"} 1',
    'turnpike_events_total{event="channel.off"} 1',
    'turnpike_alarms_total{kind="channel"} 1',
  ])
    assert.ok(shown.includes(`${line}\n`), line)
})

test('an alert has its type, its subject and the level of its severity', () => {
  const { lines, telemetry } = start('info')
  const alert = { subject: 'alpha-main', title: 'Look at it' }
  telemetry.alertChanged({ ...alert, severity: 'warning' }, 'channel.off')
  telemetry.alertChanged({ ...alert, severity: 'critical' }, 'model.no_usable_channel.resolved')
  telemetry.alertChanged({ ...alert, severity: 'info' }, 'alert.test')
  assert.deepEqual(
    lines.map(({ time: _time, pid: _pid, hostname: _hostname, ...line }) => line),
    [
      { level: 'warn', event: 'channel.off', ...alert, msg: 'alert' },
      { level: 'error', event: 'model.no_usable_channel.resolved', ...alert, msg: 'alert' },
      { level: 'info', event: 'alert.test', ...alert, msg: 'alert' },
    ],
  )
})

test('a refusal of the operator names the channel and the reason', () => {
  const { lines, telemetry } = start('info')
  const place = { channel: 'alpha-main', model: 'large-1', vendor: 'alpha' }
  telemetry.channelRefused(place, 'no_credit')
  const [{ level, kind, channel, model, vendor, why, msg } = {}] = lines
  assert.deepEqual(
    { level, kind, channel, model, vendor, why, msg },
    { level: 'error', kind: 'channel', ...place, why: 'no_credit', msg: 'operator needed' },
  )
})

test('a store outage that the operator must fix is logged with what to change', () => {
  const { lines, telemetry } = start()
  const mistake = new GatewayError('operations.invalid', 'Set fsync = on.')
  const pool = new GatewayError('ledger.unavailable', 'It does not answer.', { cause: mistake })
  const outage = new GatewayError('ledger.unavailable', 'Not at the moment.', { cause: pool })
  telemetry.fault(outage, 'background')
  telemetry.fault(new GatewayError('gateway.internal', 'No.', { cause: mistake }), 'relay')
  telemetry.fault(mistake, 'api')
  assert.deepEqual(
    lines.map(({ reason }) => reason),
    ['Set fsync = on.', undefined, undefined],
  )
})

test('an outage without another reason is logged with what the gateway says about it first', () => {
  const { lines, telemetry } = start()
  const refused = new Error(canary)
  const server = new GatewayError('ledger.unavailable', 'db:5432 does not answer.', {
    cause: refused,
  })
  const outage = new GatewayError('ledger.unavailable', 'Not at the moment.', { cause: server })
  telemetry.fault(outage, 'settle')
  telemetry.fault(new GatewayError('ledger.unavailable', 'It is closed.'), 'api')
  telemetry.ledgerRecovered()
  telemetry.ledgerRecovered()
  assert.deepEqual(
    lines.map(({ msg, reason }) => [msg, reason]),
    [
      ['fault', 'db:5432 does not answer.'],
      ['fault', 'It is closed.'],
      ['ledger recovered', undefined],
    ],
  )
})

test('a store outage is logged with its reason, and so is the recovery', () => {
  const { lines, telemetry } = start()
  for (const reason of ['disk_full', 'locked', 'unreadable'] as const) {
    const store = new StoreOutage(reason, new Error(canary))
    const outage = new GatewayError('ledger.unavailable', 'Not at the moment.', { cause: store })
    telemetry.fault(outage, 'settle')
    telemetry.ledgerRecovered()
  }
  assert.deepEqual(
    lines.map(({ level, msg, reason }) => [level, msg, reason]),
    ['disk_full', 'locked', 'unreadable'].flatMap((reason) => [
      ['error', 'fault', reason],
      ['info', 'ledger recovered', undefined],
    ]),
  )
  assert.doesNotMatch(JSON.stringify(lines), new RegExp(canary))
})

test('a repeated store outage is logged once in ten seconds for each place, and counted each time', async () => {
  const { lines, clock, telemetry, text } = start()
  const away = new GatewayError('ledger.unavailable', 'The store does not answer.')
  for (let index = 0; index < 5; index++) telemetry.fault(away, 'background')
  telemetry.fault(away, 'api')
  telemetry.fault(new Error('another'), 'background')
  telemetry.fault(new Error('another'), 'background')
  clock.advance(9_999)
  telemetry.fault(away, 'background')
  clock.advance(1)
  telemetry.fault(away, 'background')
  assert.deepEqual(
    lines.map(({ where, error }) => `${String(where)} ${String(error)}`),
    [
      'background GatewayError',
      'api GatewayError',
      'background Error',
      'background Error',
      'background GatewayError',
    ],
  )
  assert.match(await text(), /^turnpike_alarms_total\{kind="fault"\} 10$/m)
})

test('a shortage needs the operator, once in ten seconds for each thing that is short', async () => {
  const { lines, clock, telemetry, text } = start()
  for (let index = 0; index < 5; index++) telemetry.shortage('open_files')
  telemetry.shortage('ports')
  telemetry.ledgerRecovered()
  clock.advance(10_000)
  telemetry.shortage('open_files')
  assert.deepEqual(
    lines.map(({ msg, kind, of }) => [msg, kind, of]),
    ['open_files', 'ports', 'open_files'].map((of) => ['operator needed', 'shortage', of]),
  )
  assert.match(await text(), /^turnpike_alarms_total\{kind="shortage"\} 3$/m)
})

test('a failure to read changes is logged, so is its end, and then the next failure', () => {
  const { lines, telemetry } = start()
  const away = new GatewayError('ledger.unavailable', 'Not at the moment.')
  for (let index = 0; index < 3; index++) telemetry.fault(away, 'changes')
  telemetry.changesFollowed('catalogue')
  telemetry.fault(away, 'changes')
  assert.deepEqual(
    lines.map((line) => [line['level'], line['msg'], line['where'] ?? line['area']]),
    [
      ['error', 'fault', 'changes'],
      ['info', 'change tracking recovered', 'catalogue'],
      ['error', 'fault', 'changes'],
    ],
  )
})

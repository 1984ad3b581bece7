/**
 * Sixteen ways in which a main channel fails, as a neutral bench of gateways would try them: in both formats,
 * streamed and whole, failing at once and after 20 s, with a reserve that works and with one that fails in
 * the same way. Each ends as a whole answer, an honest error or an honest cut: none hangs, none has a byte
 * twice, none is charged twice. Time stands still unless a test moves it.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ServedRecord } from '../../sandbox/served-record.ts'
import type { FormatName } from '../../src/formats/format.ts'
import { assertBrokenOff, assertWhole, namesOperator } from '../support/answers.ts'
import type { CatalogueChange } from '../support/catalogues.ts'
import { EventCounts } from '../support/gateway-view.ts'
import type { WireAnswer } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { formats, places } from '../support/requests.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'

const second = 1_000
const minute = 60 * second
const tickMs = 200
const slowMs = 20 * second

type Form = 'stream' | 'whole'

interface Row {
  readonly name: string
  /** What the channel does, by format where they differ. */
  readonly fault: string | Readonly<Record<FormatName, string>>
  /** Both unless given. */
  readonly form?: Form
  /** The client has seen a part: it gets an error event, and no other channel is tried. */
  readonly isCut?: true
  /** Where it stops for ever, and after how long the first and the last channel are given up. */
  readonly hangs?: {
    readonly at: 'before_head' | 'after_head'
    readonly limitsMs: [number, number]
  }
  /** Nothing listens at the address of the main channel. */
  readonly isRefused?: true
}

const rows: readonly Row[] = [
  { name: 'refuses the connection', fault: 'reset=before_head', isRefused: true },
  { name: 'resets before the head', fault: 'reset=before_head' },
  { name: 'resets behind the head, before the first event', fault: 'reset=after_head' },
  { name: 'answers 500', fault: 'error=500' },
  { name: 'answers 502', fault: 'error=502' },
  { name: 'answers 503 with retry-after', fault: 'error=503; retry_after=30' },
  { name: 'is overloaded', fault: { messages: 'error=529', chat: 'error=429_slow_down' } },
  { name: 'answers 429 with retry-after', fault: 'error=429; retry_after=30' },
  { name: "answers 401 to the channel's credential", fault: 'error=401' },
  {
    name: 'has no credit left',
    fault: { messages: 'error=400_credit', chat: 'error=429_insufficient_quota' },
  },
  { name: 'answers 404 for a mapped model', fault: 'error=404' },
  { name: 'answers 200 with a page', fault: 'not_format=html' },
  { name: 'begins its stream with an error', fault: 'error_first=500', form: 'stream' },
  {
    name: 'hangs before the first event',
    fault: '',
    form: 'stream',
    hangs: { at: 'after_head', limitsMs: [minute, 10 * minute] },
  },
  { name: 'cuts its stream in the middle', fault: 'cut_event=5', form: 'stream', isCut: true },
  {
    name: 'hangs in a whole answer',
    fault: '',
    form: 'whole',
    hangs: { at: 'before_head', limitsMs: [10 * minute, 5 * minute] },
  },
]

const clock = new ManualClock()
let points = new EventCounts()
let open: Scenario
let refusing: Scenario
let count = 0
before(async () => {
  open = await start(failoverDefaults.channels ?? {})
  // A port that only root may listen at, and here nothing does.
  const named = { url: 'http://127.0.0.1:1' }
  refusing = await start({
    ...failoverDefaults.channels,
    named: { 'alpha-main': named, 'beta-main': named },
  })
})
after(async () => {
  await open.close()
  await refusing.close()
})

function start(channels: CatalogueChange): Promise<Scenario> {
  return scenario({
    ...failoverDefaults,
    channels,
    clock,
    onTracePoint: (point) => points.note(point),
    settings: { answer_timeout: '10m', request_deadline: '15m' },
  })
}

interface Case {
  readonly row: Row
  readonly format: FormatName
  readonly form: Form
  readonly isSlow: boolean
  /** The reserve fails in the same way. */
  readonly isEverywhere: boolean
}

/** Asks once while channels fail as told; time moves only where the case needs it. */
async function play(one: Case): Promise<{ answer: WireAnswer; marker: string; gateway: Scenario }> {
  const { row, format, form, isSlow, isEverywhere } = one
  const gateway = row.isRefused === true ? refusing : open
  const marker = `scenario-${count++}`
  points = new EventCounts()
  gateway.resetHealth()
  gateway.sandbox.faults.clear()
  const gates = isEverywhere ? [places[format].main, places[format].reserve] : [places[format].main]
  for (const channel of gates) {
    const fault = typeof row.fault === 'string' ? row.fault : row.fault[format]
    const at = row.hangs?.at ?? (isSlow ? 'before_head' : undefined)
    const gate = at === undefined ? '' : `hold=${marker}-${channel}@${at}; `
    gateway.sandbox.faults.set(channel, gate + fault)
  }
  const answer = gateway.ask({ format, isStream: form === 'stream', marker })
  if (row.hangs !== undefined || isSlow)
    for (const [index, channel] of gates.entries()) {
      await gateway.sandbox.faults.reached(`${marker}-${channel}`)
      if (row.hangs?.at === 'after_head') await points.reach('head_received', index + 1)
      clock.advance((row.hangs?.limitsMs[index] ?? slowMs) + tickMs)
      if (row.hangs === undefined) gateway.sandbox.faults.release(`${marker}-${channel}`)
    }
  return { answer: await answer, marker, gateway }
}

/** The vendor's own words as they came, or an error of the gateway in the shape of the format. */
function assertHonestError(answer: WireAnswer, record: ServedRecord, format: FormatName): void {
  assert.ok(answer.status >= 400, answer.text)
  assert.ok(answer.isComplete)
  assert.ok(!namesOperator(answer.text), answer.text)
  if (answer.text === record.responseBody?.toString()) return
  const body = JSON.parse(answer.text) as { readonly type?: string; readonly error: object }
  assert.equal(typeof body.error, 'object')
  if (format === 'messages') assert.equal(body.type, 'error')
}

async function assertEnd(one: Case): Promise<void> {
  const { row, format, isEverywhere } = one
  const { main, reserve } = places[format]
  const { answer, marker, gateway } = await play(one)
  const tried = [...new Set(gateway.tried(marker))]
  const { ending, chargeCount } = await gateway.recorded(answer)
  if (row.isCut === true) {
    assertBrokenOff(answer, await gateway.served(marker, main), format, row.name)
    assert.deepEqual(tried, [main])
    assert.deepEqual([ending, chargeCount], ['upstream_cut', 0])
    return
  }
  assert.deepEqual(tried, row.isRefused === true ? [reserve] : [main, reserve])
  if (isEverywhere) {
    assertHonestError(answer, await gateway.served(marker, reserve), format)
    assert.deepEqual([ending, chargeCount], ['failed', 0])
  } else {
    assertWhole(answer, await gateway.served(marker, reserve), row.name)
    assert.deepEqual([ending, chargeCount], ['completed', 1])
  }
}

test('there are sixteen', () => {
  assert.equal(new Set(rows.map(({ name }) => name)).size, 16)
})

for (const row of rows)
  describe(`a channel that ${row.name}`, () => {
    const forms: readonly Form[] = row.form === undefined ? ['stream', 'whole'] : [row.form]
    const mayBeSlow = row.hangs === undefined && row.isRefused !== true
    for (const format of formats)
      for (const form of forms) {
        const one = { row, format, form, isSlow: false, isEverywhere: false }
        const asked = `${format}, ${form}`
        test(`(${asked}) at once`, () => assertEnd(one))
        if (mayBeSlow) test(`(${asked}) after 20 s`, () => assertEnd({ ...one, isSlow: true }))
        if (row.isCut !== true)
          test(`(${asked}) like its reserve`, () => assertEnd({ ...one, isEverywhere: true }))
      }
  })

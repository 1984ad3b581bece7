/**
 * What every test of crash points does: a gateway dies by kill -9 in the middle of an exchange. It
 * kills itself at a step of its own; where a step is the vendor's, this process kills it while the
 * vendor waits. Then the books are clean, each complete answer is charged once, none is charged
 * twice, and what the dead gateway had set aside is free.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { TracePoint } from '../../src/relay/stages.ts'
import { hasEnd, hasTerminalEvent } from '../support/answers.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { assertClean, chargesOf, reconcile, type Seen, vendorPrice } from '../support/money.ts'
import { send } from '../support/http-client.ts'
import {
  type Ask,
  type BodyFormat,
  firstShown,
  formsOf,
  openAsk,
  places,
  sendAsk,
} from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import type { ProcessScenario } from '../support/scenario.ts'
import { variants } from '../support/variants.ts'

export interface CrashPoint {
  readonly name: string
  /** The gateway kills itself there … */
  readonly point?: TracePoint
  /** … or is killed while the vendor waits there. */
  readonly gate?: 'before_head' | 'first_event' | 'mid'
  readonly isStream: boolean
  /** The vendor leaves out the terminal event: the end of the body is the end of the answer. */
  readonly hasNoTerminal?: boolean
  /** How many charges the exchange has afterwards. */
  readonly charges: 0 | 1
}

const both = [true, false]

const crashPoints: readonly CrashPoint[] = [
  ...both.flatMap((isStream): CrashPoint[] => [
    { name: 'before the hold', point: 'hold_requested', isStream, charges: 0 },
    { name: 'after the hold', point: 'hold_placed', isStream, charges: 0 },
    { name: 'before the request is sent', point: 'attempt_sending', isStream, charges: 0 },
    { name: 'after the vendor has it', gate: 'before_head', isStream, charges: 0 },
    { name: 'at the first bytes', gate: 'first_event', isStream, charges: 0 },
    { name: 'in the middle', gate: 'mid', isStream, charges: 0 },
    { name: 'when the count is known', point: 'usage_seen', isStream, charges: 0 },
    { name: 'before the charge', point: 'charge_submitted', isStream, charges: 0 },
    { name: 'after the charge', point: 'charge_durable', isStream, charges: 1 },
    { name: 'after the last bytes', point: 'answer_released', isStream, charges: 1 },
  ]),
  ...(
    [
      ['when the count is known', 'usage_seen', 0],
      ['before the charge', 'charge_submitted', 0],
      ['after the charge', 'charge_durable', 1],
      ['after the last bytes', 'answer_released', 1],
    ] as const
  ).map(([name, point, charges]): CrashPoint => {
    const without = `${name}, without a terminal event`
    return { name: without, point, isStream: true, hasNoTerminal: true, charges }
  }),
  { name: 'at the commit point', point: 'first_event', isStream: true, charges: 0 },
  { name: 'after some events', point: 'mid_stream', isStream: true, charges: 0 },
]

/** Up to here an exchange is the same whatever it asks for. */
const stepsBeforeAnswer: readonly string[] = [
  'before the hold',
  'after the hold',
  'before the request is sent',
  'after the vendor has it',
]

/** Around the charge, where formats differ: a response has state that is stored with it. */
const stepsOfCharge: readonly string[] = [
  'before the charge',
  'after the charge',
  'after the last bytes',
]

/**
 * The steps that are worth a test with this format: all where it has state or no other is like it. In
 * `npm test` all with a stream of one format, and the charge with each format in one of its forms: a whole
 * answer has no step that a stream has not.
 */
export function pointsOf(format: BodyFormat): readonly CrashPoint[] {
  const forms = formsOf(format)
  const hasAll = format !== 'completions' && format !== 'embeddings'
  const asWhole = ['messages', 'responses', 'embeddings']
  const points = variants(
    crashPoints,
    ({ name, isStream }) =>
      (format === 'messages' && isStream) ||
      (stepsOfCharge.includes(name) && isStream !== asWhole.includes(format)),
  )
  return points.filter(
    ({ name, isStream, hasNoTerminal }) =>
      forms.includes(isStream) &&
      (hasAll || !stepsBeforeAnswer.includes(name)) &&
      // A response without its last event was cut.
      !(format === 'responses' && hasNoTerminal === true),
  )
}

/** Whether the gateway that dies there leaves a hold behind, on a store that keeps holds. */
export function leavesHold({ point, charges }: CrashPoint): boolean {
  return charges === 0 && point !== 'hold_requested'
}

export interface CrashOptions {
  readonly format: BodyFormat
  readonly points: readonly CrashPoint[]
  /** A scenario on an empty store. */
  readonly open: () => Promise<ProcessScenario>
  /** Settings of every gateway. */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * A gateway lives on beside the one that dies, and does what is left to do; otherwise
   * it is started again.
   */
  readonly hasPeer?: boolean
  /** Resolves when the store has set nothing aside for the account any more; checks what became of it. */
  readonly untilFree?: (
    setup: ProcessScenario,
    account: TestAccount,
    point: CrashPoint,
  ) => Promise<void>
}

/** Room for one request, so that the next one proves that nothing is held any more. */
export const oneRequest = { balance_usd: '0.002' }
export const maxTokens = 100
export const content = 'input=1; output=3; output_tokens=3'

/** One test for each point, and one for the books of all of them. */
export function testCrashes(options: CrashOptions): void {
  const { format, points, settings } = options
  let setup: ProcessScenario
  let peer: GatewayProcess | undefined
  let started: GatewayProcess | undefined
  const seen: Seen[] = []
  before(async () => {
    setup = await options.open()
    if (options.hasPeer === true) peer = await setup.start(settings)
  })
  after(() => setup.close())

  for (const point of points)
    it(`${point.name}, ${point.isStream ? 'streamed' : 'whole'}`, async () => {
      const gateway = started ?? (await setup.start(settings))
      const account = await setup.createAccount(oneRequest)
      const marker = `${point.name} ${point.isStream}`
      const ask: Ask = { format, isStream: point.isStream, maxTokens, marker }
      seen.push(await crash({ setup, gateway, account }, ask, point))
      if (peer === undefined) started = await setup.start(settings)
      await assertClean(setup)
      await assertCharged(setup, account, { marker, point })
      const url = (peer ?? started)?.url ?? ''
      if (format === 'responses') await assertRemembered(setup, { url, account, point })
      await options.untilFree?.(setup, account, point)
      // A gateway serves, and nothing is held: the balance has no room for two.
      const next = { ...ask, marker: `${marker} again`, sandbox: content }
      const answer = await sendAsk(url, account.key, next)
      assert.ok(hasEnd(answer, next), answer.body.toString())
      seen.push({ marker: next.marker, hasEnd: true })
    })

  it('the ledger is correct after all of them', async () => {
    await assertClean(setup)
    const { records } = setup.sandbox.log
    const { database } = setup.context
    const { chargedCount } = await reconcile({ records, database, seen, maxTokens })
    const charged = points.filter((point) => point.charges === 1).length
    assert.equal(chargedCount, charged + points.length)
    const last = seen.filter(({ marker }) => marker.startsWith('after the last bytes'))
    assert.ok(last.length > 0 && last.every(({ hasEnd }) => hasEnd))
  })
}

/** Right after the crash: as often as the point says, and what the vendor counted. */
async function assertCharged(
  setup: ProcessScenario,
  account: TestAccount,
  { marker, point }: { readonly marker: string; readonly point: CrashPoint },
): Promise<void> {
  const [record] = setup.sandbox.log.forMarker(marker)
  const charges = [...(await chargesOf(setup.context.database, account.id)).values()]
  assert.equal(charges.length, point.charges)
  if (record !== undefined && point.charges === 1) assert.deepEqual(charges, [vendorPrice(record)])
}

/** The state of an answer is stored with its charge: the next gateway serves the answer. */
async function assertRemembered(
  setup: ProcessScenario,
  next: { readonly url: string; readonly account: TestAccount; readonly point: CrashPoint },
): Promise<void> {
  const { url, account, point } = next
  const rows = await setup.context.database.query(
    `SELECT id FROM answer_state WHERE account_id = $1 AND kind = 'response'`,
    [account.id],
  )
  assert.equal(rows.length, point.charges)
  const headers = { authorization: `Bearer ${account.key}` }
  for (const { id } of rows) {
    const stored = await send(`${url}${places.responses.path}/${String(id)}`, { headers })
    assert.equal(stored.status, 200, stored.text)
    assert.ok(stored.text.includes(JSON.stringify(id)))
  }
}

interface Scene {
  readonly setup: ProcessScenario
  readonly gateway: GatewayProcess
  readonly account: TestAccount
}

/** Sends the request and has the gateway die at the point; returns what the client saw. */
async function crash(scene: Scene, ask: Ask, point: CrashPoint): Promise<Seen> {
  const { setup, gateway, account } = scene
  const { faults } = setup.sandbox
  const marker = ask.marker ?? ''
  const gate = `${ask.format} ${marker}`
  // The vendor waits behind what a client gets first, so that what follows is a read of its own.
  const first = firstShown(ask.format) > 1 ? 'first_output' : 'first_event'
  const place = point.point === 'mid_stream' || point.gate === 'first_event' ? first : point.gate
  const hold = `${gate}@${place}`
  const isHeld = point.gate !== undefined || point.point === 'mid_stream'
  const served = point.hasNoTerminal === true ? `${content}; terminal=missing` : content
  const sandbox = isHeld ? `${served}; hold=${hold}` : served
  if (point.point !== undefined) await gateway.crashAt(point.point)
  const client = openAsk(gateway.url, account.key, { ...ask, sandbox })
  const ended = client.ended.catch(() => ({ text: '', isComplete: false }))
  if (isHeld) {
    await faults.reached(gate)
    if (ask.isStream && point.gate !== 'before_head') await client.until((text) => text !== '')
    if (point.gate !== undefined) gateway.signal('SIGKILL')
  }
  if (point.point === 'mid_stream') faults.release(gate)
  assert.equal(await gateway.ended, 'SIGKILL')
  faults.release(gate)
  const { text, isComplete } = await ended
  // A stream's client stops reading at the last event; what comes behind it says nothing more.
  const { hasNoTerminal = false } = point
  const hasLastEvent = ask.isStream && !hasNoTerminal
  const hasEnd = hasLastEvent ? hasTerminalEvent(text, ask.format) : isComplete
  return { marker, hasEnd, hasNoTerminal }
}

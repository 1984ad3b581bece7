/**
 * What every test of crash points does: a gateway dies by kill -9 in the middle of an exchange. It
 * kills itself at a step of its own; where a step is the vendor's, this process kills it while the
 * vendor waits. Then the books are clean, whoever saw the end of an answer has paid for it once,
 * nobody has paid twice, and what the dead gateway had set aside is free.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { FormatName } from '../../src/formats/format.ts'
import type { Milestone } from '../../src/telemetry/events.ts'
import type { TestAccount } from '../support/gateway.ts'
import {
  assertClean,
  chargesOf,
  hasEnd,
  hasTerminalEvent,
  openAsk,
  sendAsk,
  vendorPrice,
  type Ask,
} from './harness.ts'
import type { GatewayProcess, Stand } from './process-stand.ts'
import { reconcile, type Seen } from './reconcile.ts'

export interface CrashPoint {
  readonly name: string
  /** The gateway kills itself there … */
  readonly milestone?: Milestone
  /** … or is killed while the vendor waits there. */
  readonly gate?: 'before_head' | 'first_event' | 'mid'
  readonly isStream: boolean
  /** How many charges the exchange has afterwards. */
  readonly charges: 0 | 1
}

const both = [true, false]

export const crashPoints: readonly CrashPoint[] = [
  ...both.flatMap((isStream): CrashPoint[] => [
    { name: 'before the hold', milestone: 'hold_wanted', isStream, charges: 0 },
    { name: 'after the hold', milestone: 'hold_placed', isStream, charges: 0 },
    { name: 'before the request is sent', milestone: 'attempt_sending', isStream, charges: 0 },
    { name: 'after the vendor has it', gate: 'before_head', isStream, charges: 0 },
    { name: 'at the first bytes', gate: 'first_event', isStream, charges: 0 },
    { name: 'in the middle', gate: 'mid', isStream, charges: 0 },
    { name: 'when the count is known', milestone: 'usage_seen', isStream, charges: 0 },
    { name: 'before the charge', milestone: 'charge_submitted', isStream, charges: 0 },
    { name: 'after the charge', milestone: 'charge_durable', isStream, charges: 1 },
    { name: 'after the last bytes', milestone: 'answer_released', isStream, charges: 1 },
  ]),
  { name: 'at the commit point', milestone: 'first_event', isStream: true, charges: 0 },
  { name: 'after some events', milestone: 'mid_stream', isStream: true, charges: 0 },
]

/** Whether the gateway that dies there leaves a hold behind, on a store that keeps holds. */
export function leavesHold({ milestone, charges }: CrashPoint): boolean {
  return charges === 0 && milestone !== 'hold_wanted'
}

export interface CrashOptions {
  readonly format: FormatName
  readonly points: readonly CrashPoint[]
  /** A stand on an empty store. */
  readonly open: () => Promise<Stand>
  /** Settings of every gateway. */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * A gateway lives on beside the one that dies, and does what is left to do; otherwise
   * it is started again.
   */
  readonly hasPeer?: boolean
  /** Resolves when the store has set nothing aside for the account any more; checks what became of it. */
  readonly untilFree?: (stand: Stand, account: TestAccount, point: CrashPoint) => Promise<void>
}

/** Room for one request, so that the next one proves that nothing is held any more. */
export const oneRequest = { balance_usd: '0.002' }
export const maxTokens = 100
export const content = 'input=1; output=3; output_tokens=3'

/** One test for each point, and one for the books of all of them. */
export function testCrashes(options: CrashOptions): void {
  const { format, points, settings } = options
  let stand: Stand
  let peer: GatewayProcess | undefined
  let started: GatewayProcess | undefined
  const seen: Seen[] = []
  before(async () => {
    stand = await options.open()
    if (options.hasPeer === true) peer = await stand.start(settings)
  })
  after(() => stand.close())

  for (const point of points)
    it(`${point.name}, ${point.isStream ? 'streamed' : 'whole'}`, async () => {
      const gateway = started ?? (await stand.start(settings))
      const account = await stand.createAccount(oneRequest)
      const marker = `${point.name} ${point.isStream}`
      const ask: Ask = { format, isStream: point.isStream, maxTokens, marker }
      seen.push(await crash({ stand, gateway, account }, ask, point))
      if (peer === undefined) started = await stand.start(settings)
      await assertClean(stand)
      await assertCharged(stand, account, { marker, point })
      await options.untilFree?.(stand, account, point)
      // A gateway serves, and nothing is held: the balance has no room for two.
      const next = { ...ask, marker: `${marker} again`, sandbox: content }
      const answer = await sendAsk((peer ?? started)?.url ?? '', account.key, next)
      assert.ok(hasEnd(answer, next), answer.body.toString())
      seen.push({ marker: next.marker, hasEnd: true })
    })

  it('and has the books of all of it in order', async () => {
    await assertClean(stand)
    const { records } = stand.sandbox.log
    const { database } = stand.context
    const { chargedCount } = await reconcile({ records, database, seen, maxTokens })
    const charged = points.filter((point) => point.charges === 1).length
    assert.equal(chargedCount, charged + points.length)
    const last = seen.filter(({ marker }) => marker.startsWith('after the last bytes'))
    assert.ok(last.length > 0 && last.every(({ hasEnd }) => hasEnd))
  })
}

/** Right after the crash: as often as the point says, and what the vendor counted. */
async function assertCharged(
  stand: Stand,
  account: TestAccount,
  { marker, point }: { readonly marker: string; readonly point: CrashPoint },
): Promise<void> {
  const [record] = stand.sandbox.log.forMarker(marker)
  const charges = [...(await chargesOf(stand.context.database, account.id)).values()]
  assert.equal(charges.length, point.charges)
  if (record !== undefined && point.charges === 1) assert.deepEqual(charges, [vendorPrice(record)])
}

interface Scene {
  readonly stand: Stand
  readonly gateway: GatewayProcess
  readonly account: TestAccount
}

/** Sends the request and has the gateway die at the point; returns what the client saw. */
async function crash(scene: Scene, ask: Ask, point: CrashPoint): Promise<Seen> {
  const { stand, gateway, account } = scene
  const { faults } = stand.sandbox
  const marker = ask.marker ?? ''
  const gate = `${ask.format} ${marker}`
  // The vendor waits behind its first event, so that what follows is a read of its own.
  const hold = point.milestone === 'mid_stream' ? `${gate}@first_event` : `${gate}@${point.gate}`
  const isHeld = point.gate !== undefined || point.milestone === 'mid_stream'
  const sandbox = isHeld ? `${content}; hold=${hold}` : content
  if (point.milestone !== undefined) await gateway.crashAt(point.milestone)
  const client = openAsk(gateway.url, account.key, { ...ask, sandbox })
  const ended = client.ended.catch(() => ({ text: '', isComplete: false }))
  if (isHeld) {
    await faults.reached(gate)
    if (ask.isStream && point.gate !== 'before_head') await client.until((text) => text !== '')
    if (point.gate !== undefined) gateway.signal('SIGKILL')
  }
  if (point.milestone === 'mid_stream') faults.release(gate)
  assert.equal(await gateway.ended, 'SIGKILL')
  faults.release(gate)
  const { text, isComplete } = await ended
  // A stream's client stops reading at the last event; what comes behind it says nothing more.
  return { marker, hasEnd: ask.isStream ? hasTerminalEvent(text, ask.format) : isComplete }
}

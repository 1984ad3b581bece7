/**
 * Relay and ledger of production in a world that one seed decides: clients, vendors, the disk and
 * time take turns, one small step at a time, and after each step the invariants of money are checked.
 * The process may die between any two steps; the store is what outlives it.
 */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import type { Principal } from '../../../src/access/key.ts'
import { createRunningLimits } from '../../../src/access/limits.ts'
import { refuse } from '../../../src/base/errors.ts'
import { seededRandom, type Random } from '../../../src/base/random.ts'
import type { Clock } from '../../../src/base/clock.ts'
import type { Snapshot } from '../../../src/channels/channel.ts'
import { CountBook } from '../../../src/channels/count-book.ts'
import { HealthBook } from '../../../src/channels/health/health-book.ts'
import { createRoutes, type RouteSettings } from '../../../src/channels/route.ts'
import { UpstreamPools } from '../../../src/http/client/pool.ts'
import { ConnectionPlaces } from '../../../src/http/server/connection-places.ts'
import type { ConnectionParts } from '../../../src/http/server/connection-parts.ts'
import { ServerConnection } from '../../../src/http/server/connection.ts'
import { createEmbeddedLedger } from '../../../src/ledger/embedded/ledger.ts'
import { openAnswerStates } from '../../../src/ledger/answer-state-store.ts'
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { Waivers } from '../../../src/ledger/waivers.ts'

import { estimateTokens } from '../../../src/metering/token-estimate.ts'
import { relay } from '../../../src/relay/relay.ts'
import { createBodyReader } from '../../../src/relay/body-reader.ts'
import type { RelayServices, RelaySettings } from '../../../src/relay/stages.ts'
import { createWatchdog } from '../../../src/base/watchdog.ts'
import { bodyFormats, formsOf } from '../../support/requests.ts'
import { directAddresses, listenerDefaults } from '../../support/listener-options.ts'
import { VirtualClock } from '../channels/virtual-clock.ts'
import { HoldBook } from './hold-book.ts'
import { SimClient, type SimRequest } from './sim-client.ts'
import type { SimStore, StoreFault } from './sim-store.ts'
import { telemetryOf } from './sim-telemetry.ts'
import { SimVendors } from './sim-vendor.ts'
import { drawMood, drawRates, type Rates } from './world-rates.ts'

export interface WorldAccount {
  readonly principal: Principal
  readonly secret: string
}

export interface WorldOptions {
  readonly seed: number
  readonly snapshot: Snapshot
  readonly accounts: readonly WorldAccount[]
  readonly store: SimStore
}

interface Gateway {
  /** A client has connected. */
  readonly accept: (socket: Socket) => void
  readonly ledger: Ledger
  /** False once it has died; its timers no longer fire. */
  isAlive: boolean
  /** The store has failed for good: the process has to end. */
  isDoomed: boolean
}

const clientsMax = 12
const settings: RouteSettings & RelaySettings = {
  recordAddresses: 'family',
  bodyBytesMax: 10_000,
  bodyTimeoutMs: 10_000,
  attemptsMax: 3,
  requestDeadlineMs: 600_000,
  firstEventTimeoutMs: 30_000,
  answerTimeoutMs: 60_000,
  idleTimeoutMs: 30_000,
  pingTimeoutMs: 600_000,
  streamKeepaliveMs: undefined,
  clientLeftGraceMs: 5_000,
  answerBytesMax: 1_000_000,
  holds: 'likely',
  upstreamCut: 'nothing',
}
const directPeer = directAddresses.peer('192.0.2.1')
const noTimer = { cancel: () => undefined }

export class MoneyWorld {
  readonly clock = new VirtualClock()
  readonly clients: SimClient[] = []
  readonly vendors: SimVendors
  readonly holds = new HoldBook()
  readonly store: SimStore
  /** Faults of the gateway; must stay empty. */
  readonly faults: unknown[] = []
  /** What was done, for a person who replays a seed. */
  readonly story: string[] = []
  crashCount = 0
  /** Account → what an operator has taken from it, all in all. */
  readonly #taken = new Map<string, bigint>()
  refundCount = 0
  readonly #options: WorldOptions
  readonly #random: Random
  readonly #rates: Rates
  #gateway: Gateway | undefined

  constructor(options: WorldOptions) {
    this.#options = options
    this.#random = seededRandom(options.seed)
    this.store = options.store
    this.#rates = drawRates(this.#random)
    this.vendors = new SimVendors(this.#random, drawMood(this.#random))
    this.store.onAcknowledged = (exchangeIds) => this.holds.acknowledge(exchangeIds)
  }

  get ledger(): Ledger {
    return this.#live.ledger
  }

  /** Clients whose connection neither side has ended. */
  get openClients(): readonly SimClient[] {
    return this.clients.filter(({ isOpen, isServed }) => isOpen && !isServed)
  }

  get principals(): readonly Principal[] {
    return this.#options.accounts.map(({ principal }) => principal)
  }

  takenFrom(accountId: string): bigint {
    return this.#taken.get(accountId) ?? 0n
  }

  accountOf({ request }: SimClient): string | undefined {
    const { accounts } = this.#options
    return accounts.find(({ secret }) => secret === request.secret)?.principal.accountId
  }

  async start(): Promise<void> {
    this.holds.forget()
    const state = { isAlive: true, isDoomed: false }
    const clock = mortalClock(this.clock, () => state.isAlive)
    const ledger = await createEmbeddedLedger({
      path: 'simulated',
      clock,
      openWriter: this.store.openWriter,
      onFatal: () => void (gateway.isDoomed = true),
      onFault: (error) => void this.faults.push(error),
    })
    const parts = this.#relayServices(clock, ledger)
    const site = this.#site(clock, parts)
    const { watchdog, monotonic } = site
    const places = new ConnectionPlaces({ ...listenerDefaults, watchdog, monotonic })
    const accept = (socket: Socket): void => {
      const place = places.take(directPeer)
      assert.ok(place !== undefined)
      void new ServerConnection(socket, site, { peer: directPeer, place })
    }
    const gateway: Gateway = Object.assign(state, { accept, ledger })
    this.#gateway = gateway
  }

  /** One thing happens, drawn by the seed, and everything that follows from it at once. */
  async step(): Promise<void> {
    if (this.#live.isDoomed) await this.crash()
    else await this.#choose()()
    await turn()
  }

  /** Everybody is well again and everything that waits happens, until nothing does. */
  async heal(): Promise<void> {
    this.store.setFault('none')
    for (const client of this.clients) client.setSlow(false)
    for (let round = 0; round < 10_000; round++) {
      if (this.#live.isDoomed) await this.crash()
      for (const call of this.vendors.openCalls) call.advance()
      this.#moveStore()
      this.clock.runUntil(this.clock.monotonic() + 1_000)
      await turn()
      const isQuiet = this.openClients.length === 0 && this.ledger.openHolds().count === 0
      if (isQuiet && !this.store.hasMessages && !this.store.hasAnswers) return
    }
    assert.fail(
      `${this.openClients.length} clients are never served, ${this.ledger.openHolds().count} holds never end`,
    )
  }

  /** Waits for an answer of the ledger, while the store works for nothing else. */
  async answered<Answer>(asked: Promise<Answer>): Promise<Answer> {
    const pump = async (): Promise<'pumped'> => {
      this.#moveStore()
      await turn()
      return 'pumped'
    }
    const answered = asked.then((answer) => ({ answer }))
    for (;;) {
      const first = await Promise.race([answered, pump()])
      if (first !== 'pumped') return first.answer
    }
  }

  /** kill -9: memory is gone, and so is whatever the writer had not taken yet. */
  async crash(): Promise<void> {
    this.story.push('crash')
    this.crashCount++
    this.#live.isAlive = false
    this.vendors.forgetAll()
    for (const client of this.clients) client.lose()
    await this.start()
  }

  get #live(): Gateway {
    assert.ok(this.#gateway !== undefined, 'the gateway has not been started')
    return this.#gateway
  }

  #choose(): () => void | Promise<void> {
    const { openCalls } = this.vendors
    const open = this.openClients
    const rates = this.#rates
    const choices: readonly (readonly [number, () => void | Promise<void>])[] = [
      [open.length < clientsMax ? rates.ask : 0, () => this.#ask()],
      [openCalls.length > 0 ? rates.vendor : 0, () => this.#pick(openCalls).advance()],
      [open.length > 0 ? rates.leave : 0, () => this.#leave(this.#pick(open))],
      [open.length > 0 ? rates.slow : 0, () => this.#slow(this.#pick(open))],
      [this.store.hasMessages ? rates.take : 0, () => this.store.takeMessage()],
      [this.store.hasAnswers ? rates.give : 0, () => this.store.giveAnswer()],
      [rates.time, () => this.#passTime()],
      [rates.disk, () => this.#changeDisk()],
      [rates.crash, () => this.crash()],
      [rates.credit, () => this.#credit()],
      [rates.refund, () => this.#refund()],
    ]
    let left = this.#random() * choices.reduce((sum, [rate]) => sum + rate, 0)
    for (const [rate, action] of choices) {
      left -= rate
      if (left < 0) return action
    }
    return () => this.#passTime()
  }

  #ask(): void {
    const random = this.#random
    const account = this.#pick(this.#options.accounts)
    const format = this.#random() < 0.3 ? 'responses' : this.#pick(bodyFormats)
    const request = {
      number: this.clients.length,
      format,
      isStream: random() < 0.6 && formsOf(format).includes(true),
      maxTokens: 1 + Math.floor(random() * 40),
      secret: account.secret,
      ...(format === 'responses' ? this.#drawEarlier(account.secret) : {}),
    }
    this.story.push(`ask ${request.number}`)
    this.clients.push(new SimClient(request, this.#live.accept))
  }

  /** Often an earlier response, now and then of another account: to continue from it, or to delete it. */
  #drawEarlier(secret: string): Pick<SimRequest, 'earlierId' | 'isDeletion'> {
    const takesOwn = this.#random() < 0.7
    const ids = this.clients.flatMap(({ request, responseId }) =>
      responseId !== undefined && (request.secret === secret) === takesOwn ? [responseId] : [],
    )
    if (ids.length === 0 || this.#random() < 0.2) return {}
    return { earlierId: this.#pick(ids), isDeletion: this.#random() < 0.2 }
  }

  #leave(client: SimClient): void {
    this.story.push(`leave ${client.request.number}`)
    client.leave()
  }

  #slow(client: SimClient): void {
    client.setSlow(!client.isSlow)
  }

  #passTime(): void {
    const random = this.#random
    const isLong = random() < 0.1
    this.clock.runUntil(this.clock.monotonic() + Math.floor(random() * (isLong ? 90_000 : 2_000)))
    // Over midnight and back: a charge belongs to the day on which it ended, whatever the clock does.
    if (random() < 0.05) this.clock.jumpWallTime(Math.floor((random() - 0.5) * 86_400_000))
  }

  #changeDisk(): void {
    const faults: readonly StoreFault[] = ['full', 'busy', 'broken_before', 'broken_after']
    const fault = this.store.fault === 'none' ? this.#pick(faults) : 'none'
    this.story.push(`disk ${fault}`)
    this.store.setFault(fault)
  }

  async #credit(): Promise<void> {
    const { principal } = this.#pick(this.#options.accounts)
    const { accountId } = principal
    const amountPicos = BigInt(Math.floor((this.#random() - 0.2) * 20_000_000_000))
    await this.store.credit(accountId, amountPicos, this.clock.now())
    if (amountPicos < 0n) this.#taken.set(accountId, this.takenFrom(accountId) - amountPicos)
    // Answered through the same queues as everything else, whenever the writer comes to it.
    this.ledger.refresh().catch(() => undefined)
  }

  async #refund(): Promise<void> {
    const charges = this.store.charges()
    if (charges.length === 0) return
    const { exchangeId } = this.#pick(charges)
    const isBooked = await this.store.refund(exchangeId, this.#random(), this.clock.now())
    if (!isBooked) return
    this.story.push('refund')
    this.refundCount++
    this.ledger.refresh().catch(() => undefined)
  }

  #moveStore(): void {
    while (this.store.hasMessages || this.store.hasAnswers) {
      this.store.takeMessage()
      this.store.giveAnswer()
    }
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.#random() * items.length)]
    assert.ok(item !== undefined)
    return item
  }

  /** What a listener gives its connections, without the network in front of it. */
  #site(clock: Clock, parts: RelayServices): ConnectionParts {
    const { snapshot } = this.#options
    return {
      headBytesMax: 16_384,
      headTimeoutMs: 10_000,
      requestTimeoutMs: 60_000,
      keepAliveTimeoutMs: 75_000,
      writeStallTimeoutMs: 20_000,
      keepAlive: 'timeout=75',
      watchdog: createWatchdog(clock),
      monotonic: () => clock.monotonic(),
      addresses: directAddresses,
      date: () => new Date(clock.now()).toUTCString(),
      newRequestId: () => 'unread',
      isDraining,
      handle(request, response) {
        const slash = request.target.indexOf('/', 1)
        const vendor = snapshot.vendors.get(request.target.slice(1, slash))
        assert.ok(vendor !== undefined)
        const target = { path: request.target.slice(slash), query: '' }
        relay({ request, response, vendor, snapshot, target, isDraining }, parts)
      },
    }
  }

  #relayServices(clock: Clock, ledger: Ledger): RelayServices {
    const health = new HealthBook({
      clock,
      random: this.#random,
      checkIntervalMs: 600_000,
      failoverTokensMax: 100,
    })
    health.follow(undefined, this.#options.snapshot)
    const telemetry = telemetryOf((error) => void this.faults.push(error))
    const bySecret = new Map(this.#options.accounts.map((account) => [account.secret, account]))
    return {
      clock,
      watchdog: createWatchdog(clock),
      telemetry,
      authenticate: (presented) =>
        Promise.resolve(
          bySecret.get(presented ?? '')?.principal ??
            refuse('access.credential_invalid', 'Unknown.'),
        ),
      running: createRunningLimits({
        perKeyMax: 0,
        perAccountMax: 0,
        bodies: { totalBytesMax: 1_000_000, bodyBytesMax: settings.bodyBytesMax },
      }),
      ledger: this.holds.watch(ledger),
      waivers: new Waivers({
        database: this.store.database,
        onError: (error) => void this.faults.push(error),
      }),
      freeExchanges: { record: () => undefined },
      answerStates: openAnswerStates(this.store.database),
      bodies: createBodyReader({ clock, onThreadLost: (error) => void this.faults.push(error) }),
      tokenCounter: {
        count: (text) => Promise.resolve(estimateTokens(text)),
        close: () => Promise.resolve(),
      },
      openRoute: createRoutes({ clock, health, telemetry, settings }),
      counts: new CountBook(clock),
      upstream: new UpstreamPools({
        connectTimeoutMs: 5_000,
        clock,
        openSocket: (options) => this.vendors.connect(options),
      }),
      settings,
    }
  }
}

/** Whatever follows from a step without anybody's doing has happened after this. */
async function turn(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve))
}

/** Timers of a process that has died do not fire. */
function mortalClock(clock: Clock, isAlive: () => boolean): Clock {
  const after: Clock['after'] = (delayMs, action) =>
    isAlive()
      ? clock.after(delayMs, () => {
          if (isAlive()) action()
        })
      : noTimer
  return { now: () => clock.now(), monotonic: () => clock.monotonic(), after, onTick: after }
}

function isDraining(): boolean {
  return false
}

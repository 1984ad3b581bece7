/**
 * The composition root: builds the object graph of one gateway from its settings and effects, and
 * takes it down again. The one file that imports every module; it decides nothing about exchanges.
 */
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { createAuthenticate } from './access/authenticate.ts'
import { createKeyDirectory } from './access/key-directory.ts'
import { createRunningLimits } from './access/limits.ts'
import { serveAdmin, type AdminParts } from './api/admin.ts'
import { sleep, utcDay, type Clock } from './base/clock.ts'
import { newId } from './base/id.ts'
import { openAll } from './base/opening.ts'
import type { Random } from './base/random.ts'
import type { Secret } from './base/secret.ts'
import { createWatchdog } from './base/watchdog.ts'
import { openChannelKeeper } from './channels/channel-keeper.ts'
import { readCatalogue } from './channels/channel-store.ts'
import { measureChannels } from './channels/channel-gauges.ts'
import type { HealthBook } from './channels/health-book.ts'
import { createSnapshotHolder, loadSnapshot, type LoadedSnapshot } from './channels/snapshot.ts'
import { createUpstream } from './channels/http-upstream.ts'
import { catching, serveFront, type FrontParts } from './front.ts'
import { openGatewayStore } from './gateway-store.ts'
import { listen, type Listener } from './http/listener.ts'
import { createTokenCounter } from './metering/token-counter.ts'
import { startBookkeeping } from './operations/bookkeeping.ts'
import { makeKeyForFirstSeal } from './operations/catalogue/credentials.ts'
import type { RelayParts } from './relay/relay.ts'
import type { Config } from './settings.ts'
import { readRevisions, watchRevisions } from './storage/changes.ts'
import { readStoreTime } from './storage/store-time.ts'
import type { Database, RevisionArea } from './storage/database.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { createTelemetry, type Milestone } from './telemetry/events.ts'

/** What the gateway takes from the world; tests put others in place. */
export interface Effects {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Lines of the log that could not be written so far. */
  readonly droppedLogLines?: () => number
  /** Variables of the process, for credentials written as `env:NAME`. */
  readonly environment: (name: string) => string | undefined
  readonly masterKey: () => Secret
  /** The store failed for good: the process has to end and be started anew. */
  readonly onFatal: (error: Error) => void
  readonly onMilestone?: (milestone: Milestone, exchangeId: string) => void
  /** Called once this process may serve the store, before it reads the catalogue there. */
  readonly onStoreOpen?: (database: Database) => Promise<void>
  /** Pages of 4 KB that charges may have the store grow to, where that is less than the disk has. */
  readonly storePagesMax?: number
  /** Time of a store on PostgreSQL where a test holds it still; the server's own otherwise. */
  readonly readStoreTime?: () => number
}

export interface App {
  readonly address: Listener['address']
  readonly adminAddress: Listener['address']
  readonly health: HealthBook
  readonly snapshot: () => LoadedSnapshot
  /** Its own way to the store. Another one on this thread would wait for locks that this one holds. */
  readonly database: Database
  /** Follows what commands changed in the store now, and answers, without waiting for the next poll. */
  refresh(): Promise<void>
  /** Takes no more requests, lets running ones finish for at most this long, then closes everything. */
  drain(timeoutMs: number): Promise<void>
  close(): Promise<void>
}

const keysRememberedMax = 10_000
/** After the drain: how long cut exchanges may take to be settled, and written answers to be taken. */
const settleTimeMs = 5_000
const drainPollMs = 50
const auditDifferencesLogged = 20
const headBytesMax = 65_536

/**
 * Where anything cannot be opened, everything is as it was before: no lock, connection, thread or timer
 * is left. The store may have a newer schema; on SQLite only where no other gateway was serving it.
 */
export function createApp(config: Config, effects: Effects): Promise<App> {
  return openAll((opened) => openApp(config, effects, opened))
}

/** Closed latest first: what takes requests, what they need, the ledger, the store. */
async function openApp(
  config: Config,
  effects: Effects,
  opened: AsyncDisposableStack,
): Promise<App> {
  const { clock, log } = effects
  const metrics = createMetrics()
  const telemetry = createTelemetry({
    log,
    metrics,
    clock,
    ...(effects.onMilestone === undefined ? {} : { onMilestone: effects.onMilestone }),
  })
  const onError = (error: unknown): void => telemetry.fault(error, 'background')
  const store = await openGatewayStore({
    config,
    clock,
    onFatal: effects.onFatal,
    onFault: (error) => telemetry.fault(error, 'ledger'),
    onRecovered: () => telemetry.ledgerRecovered(),
    pagesMax: effects.storePagesMax,
    readStoreTime: effects.readStoreTime,
  })
  opened.defer(() => store.close())
  const { database, ledger } = store
  await effects.onStoreOpen?.(database)
  makeKeyForFirstSeal((await database.snapshot(readCatalogue)).channels, effects.masterKey)
  const keys = createKeyDirectory(database, { bound: keysRememberedMax })
  const authenticate = createAuthenticate(keys)
  // Counters before contents: a change in between is then seen as one still to follow.
  const since = await readRevisions(database)
  const readSnapshot = (revision: number): Promise<LoadedSnapshot> =>
    loadSnapshot(database, {
      masterKey: effects.masterKey,
      environment: effects.environment,
      revision,
    })
  const holder = createSnapshotHolder(await readSnapshot(since.catalogue))
  reportOutOfService(holder.current, log)
  const snapshot = (): LoadedSnapshot => holder.current

  const upstream = createUpstream({ connectTimeoutMs: config.connectTimeoutMs, clock })
  const channels = await openChannelKeeper({
    clock,
    random: effects.random,
    database,
    upstream,
    telemetry,
    snapshot,
    nodeName: config.nodeName ?? hostname(),
    region: config.region,
    readStoreTime: async () => effects.readStoreTime?.() ?? readStoreTime(database, clock),
    checkIntervalMs: config.checkIntervalMs,
    failoverTokensMax: config.failoverTokensMax,
    onError,
  })
  opened.defer(() => channels.close())
  opened.defer(() => ledger.close())
  const { health } = channels

  async function follow(area: RevisionArea, revision: number): Promise<void> {
    if (area === 'access' || area === 'accounts') keys.clear()
    if (area === 'accounts' || area === 'balances') await ledger.refresh()
    if (area === 'catalogue') await followCatalogue(revision)
  }
  let loading: Promise<void> = Promise.resolve()
  /** One after the other, whoever asks: what was read early must not undo what was read late. */
  function followCatalogue(revision: number): Promise<void> {
    const loaded = loading.then(() => loadCatalogue(revision))
    // Its failure is told by whoever asked for it.
    loading = loaded.catch(() => undefined)
    return loaded
  }
  async function loadCatalogue(revision: number): Promise<void> {
    const previous = holder.current
    holder.swap(await readSnapshot(revision))
    channels.follow(previous, holder.current)
    upstream.retain(new Set(holder.current.channels.keys()))
    reportOutOfService(holder.current, log)
  }
  const watch = watchRevisions({
    database,
    clock,
    since,
    onChange: follow,
    onError: (error) => telemetry.fault(error, 'changes'),
    onRecovered: (area) => telemetry.changesFollowed(area),
    ...(store.listen === undefined ? {} : { listen: store.listen }),
  })
  opened.defer(() => watch.close())

  const watchdog = createWatchdog(clock)
  const running = createRunningLimits({
    perKeyMax: config.runningPerKeyMax,
    perAccountMax: config.runningPerAccountMax,
  })
  const tokenCounter = createTokenCounter({ clock, onWorkerLost: onError })
  opened.defer(() => tokenCounter.close())
  opened.defer(() => upstream.close())
  opened.defer(() => watchdog.close())
  const now = (): number => clock.now()
  const monotonic = (): number => clock.monotonic()
  const relayParts: RelayParts = {
    clock,
    authenticate,
    running,
    telemetry,
    intake: {
      clock,
      bodyBytesMax: config.bodyBytesMax,
      bodyTimeoutMs: config.bodyTimeoutMs,
    },
    admit: { ledger, telemetry, now },
    failover: {
      upstream,
      watchdog,
      monotonic,
      health,
      telemetry,
      attemptsMax: config.attemptsMax,
      requestDeadlineMs: config.requestDeadlineMs,
      firstEventFactor: config.firstEventFactor,
      firstEventTimeoutMinMs: config.firstEventTimeoutMinMs,
      limits: {
        firstEventTimeoutMs: config.firstEventTimeoutMs,
        commitPoint: config.commitPoint,
        wholeAnswerTimeoutMs: config.answerTimeoutMs,
        clientLeftGraceMs: config.clientLeftGraceMs,
        answerBytesMax: config.answerBytesMax,
      },
    },
    deliver: {
      ledger,
      telemetry,
      watchdog,
      now,
      monotonic,
      limits: {
        idleTimeoutMs: config.idleTimeoutMs,
        clientLeftGraceMs: config.clientLeftGraceMs,
      },
    },
    settle: {
      ledger,
      telemetry,
      tokenCounter,
      cutPolicy: config.upstreamCut,
      now,
      monotonic,
    },
  }

  let isDraining = false
  const isStoreAvailable = (): boolean => store.isAvailable()

  const common = {
    headBytesMax,
    headTimeoutMs: config.headTimeoutMs,
    requestTimeoutMs: config.headTimeoutMs + config.bodyTimeoutMs,
    keepAliveTimeoutMs: config.keepAliveTimeoutMs,
    writeStallTimeoutMs: config.writeStallTimeoutMs,
    connectionsMax: config.connectionsMax,
    newRequestId: () => newId('ex', clock.now()),
    clock,
  }
  const faults = { telemetry, clock }
  const front: FrontParts = {
    clock,
    region: config.region,
    authenticate,
    ledger,
    health,
    snapshot,
    isStoreAvailable,
    isDraining: () => isDraining,
    relay: relayParts,
  }
  const listener = await listen(
    { ...config.listen, ...common },
    catching((request, response) => serveFront(request, response, front), faults),
  )
  opened.defer(() => listener.close())
  const admin: AdminParts = {
    clock,
    authenticate,
    metrics,
    isReady: () => !isDraining && isStoreAvailable(),
    measure() {
      metrics.logLinesDropped.reset()
      metrics.logLinesDropped.inc(effects.droppedLogLines?.() ?? 0)
      metrics.running.set(running.runningCount)
      metrics.openHolds.set(ledger.openHolds().count)
      metrics.journalWaiting.set(channels.journalWaitingCount())
      measureChannels(metrics, health.list(snapshot()))
    },
  }
  const adminListener = await listen(
    { ...config.adminListen, ...common },
    catching((request, response) => serveAdmin(request, response, admin), faults),
  )
  // Both at once: each waits for its last connection.
  opened.defer(async () => void (await Promise.all([listener.close(), adminListener.close()])))

  const bookkeeping = startBookkeeping({
    clock,
    random: effects.random,
    store: config.store,
    auditIntervalMs: config.auditIntervalMs,
    exchangeRetentionMs: config.exchangeRetentionMs,
    onAudit: (audit, durationMs) =>
      telemetry.audited({
        differenceCount: audit.counts.differences,
        differences: audit.differences.slice(0, auditDifferencesLogged).map((one) => ({ ...one })),
        endedAtMs: clock.now(),
        durationMs,
      }),
    onRetention: ({ cutMs, removed }) => {
      if (removed > 0) log.info({ keptFrom: utcDay(cutMs), removed }, 'old exchanges removed')
    },
    onError: (error) => telemetry.auditFailed(error),
  })
  opened.defer(() => bookkeeping.close())

  let closing: Promise<void> | undefined
  function close(): Promise<void> {
    isDraining = true
    return (closing ??= opened.disposeAsync())
  }

  /** Resolves when it is so, or after `timeoutMs`. */
  async function until(isSo: () => boolean, timeoutMs: number): Promise<void> {
    const untilMs = clock.monotonic() + timeoutMs
    while (!isSo() && clock.monotonic() < untilMs) await sleep(clock, drainPollMs)
  }
  const isIdle = (): boolean => running.runningCount === 0
  /** Answers are written; what of them is still on its way to slow readers has left. */
  const isFlushed = (): boolean => {
    void listener.drain()
    return listener.connectionCount() === 0
  }

  return {
    address: listener.address,
    adminAddress: adminListener.address,
    health,
    snapshot,
    database,
    async refresh() {
      const revisions = await readRevisions(database)
      for (const area of ['access', 'accounts', 'balances', 'catalogue'] as const)
        await follow(area, revisions[area])
      await channels.exchanged()
    },
    async drain(timeoutMs) {
      isDraining = true
      // Connections are accepted until the end, so that new requests are told and not just dropped.
      await until(isIdle, timeoutMs)
      watchdog.cutAll()
      await until(isIdle, settleTimeMs)
      await until(isFlushed, settleTimeMs)
      await close()
    },
    close,
  }
}

function reportOutOfService(snapshot: LoadedSnapshot, log: Logger): void {
  for (const { kind, name, reason } of snapshot.outOfService)
    log.warn({ kind, name, reason }, 'out of service')
}

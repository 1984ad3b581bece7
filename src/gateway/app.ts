/**
 * The composition root: builds all parts of one gateway from its settings and effects, and closes them.
 * It is the one file that imports every room, and it decides nothing about exchanges.
 */
import { join } from 'node:path'
import type { Logger } from 'pino'
import { createAuthenticate } from '../access/authenticate.ts'
import { FailedSignIns } from '../access/failed-sign-ins.ts'
import { createKeyDirectory } from '../access/key-directory.ts'
import { createEarlyLeaves } from '../access/early-leaves.ts'
import { createKeyUses } from '../access/key-uses.ts'
import { createRunningLimits } from '../access/limits.ts'
import { Sessions } from '../access/session.ts'
import { startAlerting } from './parts/alerts.ts'
import { startAudits } from './parts/audits.ts'
import type { AdminParts } from '../api/admin/app.ts'
import { listenAdmin } from '../api/admin/listener.ts'
import { ReadsUnderWay } from '../api/usage/reads-under-way.ts'
import { loadOperator } from '../api/web/operator.ts'
import { loadSite } from '../api/web/site.ts'
import { sleep, type Clock } from '../base/clock.ts'
import { newId } from '../base/id.ts'
import { buildIpRanges, readAddress } from '../base/ip-address.ts'
import { usdNumber } from '../base/money.ts'
import { openAll } from '../base/opening.ts'
import type { Random } from '../base/random.ts'
import type { Secret } from '../base/secret.ts'
import { createWatchdog } from '../base/watchdog.ts'
import { ChannelKeeper, measureChannels } from '../channels/cluster/channel-keeper.ts'
import { watchCredentialFiles } from '../channels/credential-file.ts'
import type { HealthBook } from '../channels/health/health-book.ts'
import { checkChannel } from '../channels/probes/check.ts'
import { createRoutes } from '../channels/route.ts'
import { createSnapshotHolder, loadSnapshot, type LoadedSnapshot } from '../channels/snapshot.ts'
import { openAnswerStates } from '../ledger/answer-state-store.ts'
import { UpstreamPools } from '../http/client/pool.ts'
import { catching, serveFront, type FrontParts } from './front.ts'
import { openGatewayStore, openHolderStore, openOperatorStore } from './store.ts'
import { ClientAddresses } from '../http/server/client-address.ts'
import { listen, type Listener } from '../http/server/listener.ts'
import { createTokenCounter } from '../metering/token-counter.ts'
import { EventFeed } from '../operations/events/feed.ts'
import { createSources } from '../operations/events/sources.ts'
import type { OperationContext } from '../operations/operation.ts'
import type { Alerting } from '../operations/alerts/alerting.ts'
import { startMoments } from '../operations/reports/moments.ts'
import { createCopies } from '../operations/store/backup-download.ts'
import { makeKeyForFirstSeal } from '../operations/catalogue/credentials.ts'
import { createBodyReader } from '../relay/body-reader.ts'
import type { RelayServices, TracePoint } from '../relay/stages.ts'
import { listSettings } from '../settings/in-force.ts'
import type { Config } from '../settings/list.ts'
import { shareConnections, shareLimits, type ProcessLimits } from '../settings/shares.ts'
import { readRevisions, watchRevisions } from '../storage/changes.ts'
import type { Database, RevisionArea } from '../storage/database.ts'
import { parseStoreLocation } from '../storage/location.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { reportMetrics, type MetricsReport } from '../telemetry/united-metrics.ts'
import type { FailedSignIn } from '../telemetry/refusal-lines.ts'
import { createTelemetry } from '../telemetry/events.ts'
import { openTraces } from './parts/traces.ts'

/** This gateway among the processes of one supervisor. */
export interface ProcessPlace {
  /** Its name as a node. */
  readonly name: string
  /** How many processes share the limits. */
  readonly count: number
  /** The sockets that the supervisor has bound, as file descriptors. */
  readonly listenDescriptor: number
  readonly adminListenDescriptor: number
  /** Returns the metrics of all processes as one. */
  readonly uniteMetrics: (reportOwn: () => Promise<MetricsReport>) => Promise<string>
}

/** What the gateway takes from its process; tests replace it. */
export interface Effects {
  /** Absent where this process is the only one. */
  readonly place?: ProcessPlace

  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** How many log lines could not be written so far. */
  readonly droppedLogLines?: () => number
  /** Variables of the process, for credentials written as `env:NAME`. */
  readonly environment: (name: string) => string | undefined
  readonly masterKey: () => Secret
  /** The store has failed and stays unusable: the process must end and be started again. */
  readonly onFatal: (error: Error) => void
  readonly onTracePoint?: (point: TracePoint, exchangeId: string) => void
  /** Called when this process holds the store, before it reads the catalogue. */
  readonly onStoreOpen?: (database: Database) => Promise<void>
  /** The most pages of 4 KB that an embedded store may have, for tests of a full disk. */
  readonly storePagesMax?: number
  /** Replaces the time of a PostgreSQL server in tests. */
  readonly readStoreTime?: () => number
  /** Replaces the folder of the built console and account page. */
  readonly siteFolder?: string
}

const builtSite = join(import.meta.dirname, '../../console/built')

export interface App {
  readonly address: Listener['address']
  readonly adminAddress: Listener['address']
  readonly health: HealthBook
  readonly snapshot: () => LoadedSnapshot
  /** The gateway's own connection. A second one on this thread would wait for its locks. */
  readonly database: Database
  readonly alerting: Alerting
  /** Loads what commands have changed in the store, without waiting for the next poll. */
  refresh(): Promise<void>
  /** Refuses new requests, lets running ones finish for at most this long, then closes everything. */
  drain(timeoutMs: number): Promise<void>
  /**
   * Accepts no more connections, serves those that it has to their end for at most this long, then closes
   * everything: other processes serve on.
   */
  retire(timeoutMs: number): Promise<void>
  /** Reads the metrics of this process for another one. */
  reportMetrics(): Promise<MetricsReport>
  close(): Promise<void>
}

const keysRememberedMax = 10_000
/** After the drain timeout: time to settle the cut exchanges, and time to flush written answers. */
const settleTimeMs = 5_000
const drainPollMs = 50
const operatorCheckTimeoutMs = 30_000
const headBytesMax = 65_536
/** So long a process that is replaced serves further requests on connections that it has. */
const lastRequestsMs = 5_000

/**
 * Opens a gateway. Where a part cannot be opened, every part opened before is closed again: no lock,
 * connection, thread or timer is left. The schema of the store may be newer then; on SQLite only where
 * no other gateway was serving the store.
 */
export function createApp(config: Config, effects: Effects): Promise<App> {
  return openAll((opened) => openApp(config, effects, opened))
}

/** Opens the parts in order. They close in reverse order: listeners first, the store last. */
async function openApp(
  config: Config,
  effects: Effects,
  opened: AsyncDisposableStack,
): Promise<App> {
  const { clock, log, place } = effects
  const processCount = place?.count ?? 1
  const limits = shareLimits(config, processCount)
  const connections = shareConnections(processCount)
  const operator = loadOperator(config)
  const site = await loadSite(effects.siteFolder ?? builtSite)
  const metrics = createMetrics()
  const telemetry = createTelemetry({ log, metrics, clock })
  const onError = (error: unknown): void => telemetry.fault(error, 'background')
  const store = await openGatewayStore({
    config,
    nodeName: place?.name,
    connections,
    clock,
    onFatal: effects.onFatal,
    onFault: (error) => telemetry.fault(error, 'ledger'),
    onRecovered: () => telemetry.ledgerRecovered(),
    onCommit: (figures) => telemetry.committed(figures),
    pagesMax: effects.storePagesMax,
    readStoreTime: effects.readStoreTime,
  })
  opened.defer(() => store.close())
  const { database, ledger } = store
  await effects.onStoreOpen?.(database)
  await database.snapshot((snapshot) => makeKeyForFirstSeal(snapshot, effects.masterKey))
  const keys = createKeyDirectory(database, { bound: keysRememberedMax })
  const further = { store: config.store, connections, clock, onFatal: effects.onFatal }
  const operatorStore = await openOperatorStore(further)
  opened.defer(() => operatorStore.close())
  const holderStore = await openHolderStore(further)
  opened.defer(() => holderStore.close())
  const keyUses = createKeyUses({ clock, database: operatorStore, onError })
  opened.defer(() => keyUses.close())
  const failures = new FailedSignIns({
    perMinuteMax: limits.failedSignInsMax,
    onReached: (addresses) => telemetry.failedSignInsLimited(addresses),
  })
  const credentialWatch = {
    uses: keyUses,
    onFailed: (failed: FailedSignIn) => telemetry.failedSignIn(failed),
  }
  const authenticate = createAuthenticate(keys, failures, credentialWatch)
  const sessions = new Sessions({
    clock,
    database: operatorStore,
    failures,
    onError,
    ...credentialWatch,
  })
  // Revisions before contents: a change between the two reads is loaded again, never missed.
  const since = await readRevisions(database)
  const catalogue = await openCatalogue(database, effects, since.catalogue)
  const { snapshot } = catalogue

  const traces = await openTraces(config, telemetry, clock)
  if (traces !== undefined) opened.defer(() => traces.close())
  const upstream = new UpstreamPools({ connectTimeoutMs: config.connectTimeoutMs, clock })
  const channels = await ChannelKeeper.open({
    clock,
    random: effects.random,
    database,
    upstream,
    telemetry,
    snapshot,
    membership: store.membership,
    checkIntervalMs: config.checkIntervalMs,
    failoverTokensMax: config.failoverTokensMax,
    onError,
  })
  opened.defer(() => channels.close())
  // The store knows of this process before it serves, so that an unclean stop is noticed.
  await channels.exchanged()
  opened.defer(() => ledger.close())
  const { health } = channels

  async function follow(area: RevisionArea, revision: number): Promise<void> {
    if (area === 'access' || area === 'accounts') keys.clear()
    if (area === 'accounts' || area === 'balances') await ledger.refresh()
    if (area !== 'catalogue') return
    await loadCatalogue(revision)
  }
  function loadCatalogue(revision: number): Promise<void> {
    return catalogue.load(revision, (previous, current) => {
      channels.follow(previous, current)
      upstream.retain(new Set(current.channels.keys()))
    })
  }
  const files = watchCredentialFiles({
    clock,
    stamps: () => snapshot().credentialFiles,
    onChange: () => loadCatalogue(snapshot().revision),
    onError: (error) => telemetry.fault(error, 'changes'),
  })
  opened.defer(() => files.cancel())
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
    perKeyMax: limits.runningPerKeyMax,
    perAccountMax: limits.runningPerAccountMax,
    bodies: {
      totalBytesMax: limits.bodiesBytesMax,
      bodyBytesMax: config.bodyBytesMax,
    },
  })
  const tokenCounter = createTokenCounter({ clock, onWorkerLost: onError })
  opened.defer(() => tokenCounter.close())
  const bodies = createBodyReader({ clock, onThreadLost: onError })
  opened.defer(() => bodies.close())
  opened.defer(() => upstream.close())
  opened.defer(() => watchdog.close())
  const relayServices: RelayServices = {
    clock,
    watchdog,
    telemetry,
    authenticate,
    running,
    earlyLeaves: createEarlyLeaves({
      clock,
      freeMax: limits.freeLeavesMax,
      freePercent: config.freeLeavesPercent,
    }),
    ledger,
    freeExchanges: store.freeExchanges,
    answerStates: openAnswerStates(database),
    bodies,
    tokenCounter,
    openRoute: createRoutes({ clock, health, telemetry, settings: config }),
    upstream,
    settings: config,
    traces,
    onTracePoint: effects.onTracePoint,
  }

  let isDraining = false
  const isStoreAvailable = (): boolean => store.isAvailable()

  const { random, masterKey, readStoreTime } = effects
  const parts = { config, clock, random, masterKey, store, readStoreTime, telemetry, metrics }
  const alerting = startAlerting(parts)
  opened.defer(() => alerting.close())
  const bookkeeping = startAudits({
    config,
    clock,
    random,
    log,
    database: operatorStore,
    alerting,
    telemetry,
  })
  opened.defer(() => bookkeeping.close())

  const addresses = new ClientAddresses({
    trusted: config.trustedProxies === undefined ? undefined : buildIpRanges(config.trustedProxies),
    header: config.clientAddressHeader,
    onUnlistedProxy(address, how) {
      telemetry.unlistedProxy(address, how)
      store.membership.noteUnlistedProxy(address)
    },
  })
  const common = {
    ...listenerOptions(config, limits, clock),
    addresses,
    onConnectionClosed: (why: string) => telemetry.connectionClosed(why),
  }
  const faults = { telemetry, clock }
  // Operators must not wait for the gateway's own connection, nor it for them.
  const operations: Omit<OperationContext, 'actor'> = {
    database: operatorStore,
    clock,
    masterKey: effects.masterKey,
    environment: effects.environment,
    settings: listSettings(config),
    readHeld: (accountIds) => ledger.readHeld(accountIds),
    auditInBackground: () => bookkeeping.auditFully(),
    runCheck: (check) =>
      checkChannel({ ...check, timeoutMs: operatorCheckTimeoutMs }, { upstream, clock }),
  }
  const front: FrontParts = {
    clock,
    region: config.region,
    authenticate,
    ledger,
    health,
    snapshot,
    isStoreAvailable,
    isDraining: () => isDraining,
    holderReads: new ReadsUnderWay(),
    // Account holders and operators do not wait for each other either.
    operations: { ...operations, database: holderStore },
    corsOrigins: config.corsOrigins,
    accountPage: site.account,
    operator,
    relay: relayServices,
  }
  const listener = await listen(
    {
      ...config.listen,
      descriptor: place?.listenDescriptor,
      ...common,
      hasProxyProtocol: config.proxyProtocol === 'on',
    },
    catching((request, response) => serveFront(request, response, front), faults),
  )
  opened.defer(() => listener.close())
  const measure = (): void => {
    metrics.logLinesDropped.reset()
    metrics.logLinesDropped.inc(effects.droppedLogLines?.() ?? 0)
    metrics.freeExchangesDropped.reset()
    metrics.freeExchangesDropped.inc(store.freeExchanges.droppedCount)
    metrics.running.set(running.runningCount)
    const holds = ledger.openHolds()
    metrics.openHolds.set(holds.count)
    metrics.heldUsd.set(usdNumber(holds.heldPicos))
    metrics.clientConnections.set(listener.connectionCount())
    metrics.storeUp.set(isStoreAvailable() ? 1 : 0)
    metrics.journalWaiting.set(channels.journalWaitingCount())
    measureChannels(metrics, health.list(snapshot()))
  }
  const reportOwn = (): Promise<MetricsReport> => {
    measure()
    return reportMetrics(metrics)
  }
  const location = parseStoreLocation(config.store)
  const events = new EventFeed({ clock, sources: createSources(operatorStore), onError })
  const admin: AdminParts = {
    clock,
    events,
    site,
    operations: {
      ...operations,
      ...(location.kind === 'sqlite' && {
        openCopy: createCopies(location.path, (path) => bookkeeping.copyTo(path)),
      }),
      credentialRule: {
        variables: config.apiCredentialVariables,
        folders: config.apiCredentialFileFolders,
      },
    },
    addressOf: ({ socket, rawHeaders }) =>
      addresses.find(addresses.peer(readAddress(socket.remoteAddress ?? '')), rawHeaders),
    openStore: () => openOperatorStore(further),
    onFault: (error) => telemetry.fault(error, 'api'),
    authenticate,
    sessions,
    metricsType: metrics.registry.contentType,
    isReady: () => !isDraining && isStoreAvailable(),
    readMetrics: async () => {
      if (place !== undefined) return place.uniteMetrics(reportOwn)
      measure()
      return metrics.registry.metrics()
    },
  }
  const adminListener = await listenAdmin(
    {
      ...config.adminListen,
      descriptor: place?.adminListenDescriptor,
      ...common,
      stallTimeoutMs: config.writeStallTimeoutMs,
    },
    admin,
  )
  // Both together, because each waits for its last connection.
  opened.defer(async () => void (await Promise.all([listener.close(), adminListener.close()])))
  opened.defer(() => events.close())

  const moments = startMoments({ clock, database, onError })
  opened.defer(() => moments.close())

  let closing: Promise<void> | undefined
  function close(): Promise<void> {
    isDraining = true
    return (closing ??= opened.disposeAsync())
  }

  const isIdle = (): boolean => running.runningCount === 0
  /** Whether slow readers have taken the answers that are written. */
  const isFlushed = (): boolean => isUnused(listener)

  return {
    address: listener.address,
    adminAddress: adminListener.address,
    health,
    snapshot,
    database,
    alerting,
    async refresh() {
      const revisions = await readRevisions(database)
      for (const area of ['access', 'accounts', 'balances', 'catalogue'] as const)
        await follow(area, revisions[area])
      await channels.exchanged()
    },
    async drain(timeoutMs) {
      isDraining = true
      store.membership.noteDraining()
      // Readers of events go on at another gateway.
      await events.close()
      // The listeners stay open, so that new requests get a refusal and not a closed connection.
      await until(isIdle, timeoutMs, clock)
      watchdog.cutAll()
      await until(isIdle, settleTimeMs, clock)
      await until(isFlushed, settleTimeMs, clock)
      await close()
    },
    async retire(timeoutMs) {
      store.membership.noteDraining()
      await events.close()
      listener.stopAccepting()
      void adminListener.drain()
      const isDone = (): boolean => listener.connectionCount() === 0 && isIdle()
      await until(isDone, Math.min(timeoutMs, lastRequestsMs), clock)
      await until(() => isFlushed() && isIdle(), timeoutMs, clock)
      watchdog.cutAll()
      await until(() => isFlushed() && isIdle(), settleTimeMs, clock)
      await until(() => isUnused(adminListener), settleTimeMs, clock)
      await close()
    },
    reportMetrics: reportOwn,
    close,
  }
}

/** Closes idle connections, and returns whether none is left. */
function isUnused(listener: Listener): boolean {
  void listener.drain()
  return listener.connectionCount() === 0
}

/** Waits for the condition, at most `timeoutMs`. */
async function until(isTrue: () => boolean, timeoutMs: number, clock: Clock): Promise<void> {
  const untilMs = clock.monotonic() + timeoutMs
  while (!isTrue() && clock.monotonic() < untilMs) await sleep(clock, drainPollMs)
}

function listenerOptions(config: Config, limits: ProcessLimits, clock: Clock) {
  return {
    headBytesMax,
    headTimeoutMs: config.headTimeoutMs,
    requestTimeoutMs: config.headTimeoutMs + config.bodyTimeoutMs,
    keepAliveTimeoutMs: config.keepAliveTimeoutMs,
    writeStallTimeoutMs: config.writeStallTimeoutMs,
    connectionsMax: limits.connectionsMax,
    keylessPerAddressMax: limits.keylessPerAddressMax,
    newRequestId: () => newId('ex', clock.now()),
    clock,
  }
}

interface LoadedCatalogue {
  readonly snapshot: () => LoadedSnapshot
  /** Loads a newer revision. Loads run one after the other, so that an older one never wins. */
  load(revision: number, onSwap: OnSwap): Promise<void>
}

type OnSwap = (previous: LoadedSnapshot, current: LoadedSnapshot) => void

async function openCatalogue(
  database: Database,
  { masterKey, environment, log, place }: Effects,
  initialRevision: number,
): Promise<LoadedCatalogue> {
  const read = (revision: number): Promise<LoadedSnapshot> =>
    loadSnapshot(database, { masterKey, environment, revision, processCount: place?.count })
  const holder = createSnapshotHolder(await read(initialRevision))
  reportOutOfService(holder.current, log)
  async function swap(revision: number, onSwap: OnSwap): Promise<void> {
    const previous = holder.current
    holder.swap(await read(revision))
    onSwap(previous, holder.current)
    reportOutOfService(holder.current, log)
  }
  let lastLoad: Promise<void> = Promise.resolve()
  return {
    snapshot: () => holder.current,
    load(revision, onSwap) {
      const loaded = lastLoad.then(() => swap(revision, onSwap))
      // The caller of this load reports its failure; the next load must still run.
      lastLoad = loaded.catch(() => undefined)
      return loaded
    },
  }
}

function reportOutOfService(snapshot: LoadedSnapshot, log: Logger): void {
  for (const { kind, name, reason } of snapshot.outOfService)
    log.warn({ kind, name, reason }, 'out of service')
}

/**
 * Opens what relays exchanges: connections to vendors, channels with their health, threads for large bodies
 * and for counting, traces. The ledger closes here, before the channels publish their last state.
 */
import { thisBuild } from '../../base/build.ts'
import { createWatchdog, type Watchdog } from '../../base/watchdog.ts'
import { ChannelKeeper } from '../../channels/cluster/channel-keeper.ts'
import { createRoutes } from '../../channels/route.ts'
import { UpstreamPools } from '../../http/client/pool.ts'
import { openAnswerStates } from '../../ledger/answer-state-store.ts'
import { Waivers } from '../../ledger/waivers.ts'
import { createTokenCounter } from '../../metering/token-counter.ts'
import { createBodyReader } from '../../relay/body-reader.ts'
import type { RelayServices } from '../../relay/stages.ts'
import type { Traces } from '../../telemetry/traces.ts'
import type { Callers } from './callers.ts'
import type { Catalogue } from './catalogue.ts'
import type { Money } from './money.ts'
import type { Opening } from './opening.ts'

export interface Relaying {
  readonly services: RelayServices
  readonly upstream: UpstreamPools
  readonly channels: ChannelKeeper
  readonly watchdog: Watchdog
}

/** The parts below it. */
export interface BelowRelaying {
  readonly money: Money
  readonly callers: Callers
  readonly catalogue: Catalogue
}

/** What works beside it needs these. */
export interface RelayingParts extends BelowRelaying {
  readonly relaying: Relaying
}

export async function openRelaying(opening: Opening, below: BelowRelaying): Promise<Relaying> {
  const { config, effects, limits, opened, onError, telemetry } = opening
  const { clock, onTracePoint, resolve } = effects
  const { store } = below.money
  const { authenticate, running } = below.callers
  const traces = await openTraces(opening)
  const { connectTimeoutMs } = config
  const upstream = new UpstreamPools({
    connectTimeoutMs,
    connectionsMax: limits.upstreamConnectionsMax,
    onShortage: (of) => telemetry.shortage(of),
    clock,
    ...(resolve && { resolve }),
  })
  const channels = await openChannels(opening, below, upstream)
  opened.defer(() => store.ledger.close())
  const watchdog = createWatchdog(clock)
  const tokenCounter = createTokenCounter({ clock, onWorkerLost: onError })
  opened.defer(() => tokenCounter.close())
  const bodies = createBodyReader({ clock, onThreadLost: onError })
  opened.defer(() => bodies.close())
  opened.defer(() => upstream.close())
  opened.defer(() => watchdog.close())
  const services: RelayServices = {
    clock,
    watchdog,
    telemetry,
    authenticate,
    running,
    ledger: store.ledger,
    waivers: new Waivers({ database: store.database, onError }),
    freeExchanges: store.freeExchanges,
    answerStates: openAnswerStates(store.database),
    bodies,
    tokenCounter,
    openRoute: createRoutes({ clock, health: channels.health, telemetry, settings: config }),
    counts: channels.counts,
    upstream,
    settings: config,
    traces,
    onTracePoint,
  }
  return { services, upstream, channels, watchdog }
}

async function openChannels(
  { config, effects, telemetry, onError, opened }: Opening,
  { money: { store }, catalogue }: BelowRelaying,
  upstream: UpstreamPools,
): Promise<ChannelKeeper> {
  const channels = await ChannelKeeper.open({
    clock: effects.clock,
    random: effects.random,
    database: store.database,
    upstream,
    telemetry,
    snapshot: catalogue.snapshot,
    membership: store.membership,
    checkIntervalMs: config.checkIntervalMs,
    failoverTokensMax: config.failoverTokensMax,
    onError,
  })
  opened.defer(() => channels.close())
  // The store knows of this process before it serves, so that an unclean stop is noticed.
  await channels.exchanged()
  return channels
}

/** The library is loaded only where it is used. */
async function openTraces(opening: Opening): Promise<Traces | undefined> {
  const { config, effects, nodeName, telemetry, opened } = opening
  const { otlpEndpoint: endpoint, otlpSampleRatio: sampleRatio, region } = config
  if (endpoint === undefined) return undefined
  const { openOtlpTraces } = await import('../../telemetry/otlp-traces.ts')
  const traces = openOtlpTraces({
    clock: effects.clock,
    endpoint,
    sampleRatio,
    serviceVersion: thisBuild().version,
    instance: nodeName,
    region,
    onSpans: (result, count) => telemetry.spansEnded(result, count),
  })
  opened.defer(() => traces.close())
  return traces
}

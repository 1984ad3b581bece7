/**
 * Opens both listeners: for clients, and for operators. They are opened last and closed first.
 */
import type { AdminParts } from '../../api/admin/app.ts'
import { listenAdmin } from '../../api/admin/listener.ts'
import { ReadsUnderWay } from '../../api/usage/reads-under-way.ts'
import type { StripeClient } from '../../operations/payments/stripe.ts'
import type { Operator } from '../../api/web/operator.ts'
import type { Site } from '../../api/web/site.ts'
import { newId } from '../../base/id.ts'
import { readAddress } from '../../base/ip-address.ts'
import { listen, type Listener } from '../../http/server/listener.ts'
import { fieldsOf } from '../../http/wire/fields.ts'
import { reportMetrics, type MetricsReport } from '../../telemetry/united-metrics.ts'
import { catching, serveFront, type FrontParts } from '../front.ts'
import { measureGateway } from './measuring.ts'
import { webhookOf } from './payments.ts'
import { openOperatorOidc } from './oidc.ts'
import type { Opening } from './opening.ts'
import type { OpenMembers } from './members.ts'
import type { Operators } from './operators.ts'
import type { RelayingParts } from './relaying.ts'

export interface Listeners {
  readonly clients: Listener
  readonly operators: Listener
  /** Reads the metrics of this process for another one. */
  readonly reportMetrics: () => Promise<MetricsReport>
}

interface Below extends RelayingParts {
  readonly site: Site
  readonly isDraining: () => boolean
  readonly operators: Operators
  readonly stripe: StripeClient | undefined
  readonly members: OpenMembers | undefined
  readonly catchUp: () => Promise<void>
}

export async function openListeners(opening: Opening, below: Below): Promise<Listeners> {
  const { config, effects, limits, opened } = opening
  const { place } = effects
  const clients = await listenForClients(opening, below)
  opened.defer(() => clients.close())
  const operators = await listenAdmin(
    {
      ...config.adminListen,
      descriptor: place?.adminListenDescriptor,
      ...commonOptions(opening),
      stallTimeoutMs: config.writeStallTimeoutMs,
      connectionsMax: limits.adminConnectionsMax,
    },
    { ...adminParts(opening, below, clients), oidc: await openOperatorOidc(opening) },
  )
  // Both together, because each waits for its last connection.
  opened.defer(async () => void (await Promise.all([clients.close(), operators.close()])))
  opened.defer(() => below.operators.events.close())
  const { connectionsMax: maxConnections } = limits
  if (maxConnections * (place?.count ?? 1) < config.connectionsMax)
    effects.log.info({ maxConnections }, 'fewer connections, by the limit of open files')
  return { clients, operators, reportMetrics: () => reportOwn(opening, below, clients) }
}

const headBytesMax = 65_536

function commonOptions({ config, effects, limits, telemetry }: Opening) {
  const { clock } = effects
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
    onConnectionClosed: (why: string) => telemetry.connectionClosed(why),
  }
}

function listenForClients(opening: Opening, below: Below): Promise<Listener> {
  const { config, effects, telemetry } = opening
  const { clock, place } = effects
  const front = frontParts(opening, below)
  return listen(
    {
      ...config.listen,
      descriptor: place?.listenDescriptor,
      ...commonOptions(opening),
      addresses: below.callers.addresses,
      hasProxyProtocol: config.proxyProtocol === 'on',
    },
    catching((request, response) => serveFront(request, response, front), { telemetry, clock }),
  )
}

function frontParts(opening: Opening, below: Below): FrontParts {
  const { config, effects } = opening
  const { site, isDraining, money, callers, catalogue, relaying, operators } = below
  const { stripe, members } = below
  const reads = {
    isStoreAvailable: () => money.store.isAvailable(),
    holderReads: new ReadsUnderWay(effects.clock),
    holderReader: operators.holderReader,
  }
  return {
    ...reads,
    clock: effects.clock,
    region: config.region,
    authenticate: callers.authenticate,
    ledger: money.store.ledger,
    health: relaying.channels.health,
    snapshot: catalogue.snapshot,
    isDraining,
    members: members && { ...members, ...reads },
    corsOrigins: config.corsOrigins,
    accountPage: site.account,
    operator: operatorOf(opening, below),
    stripeWebhook: stripe && webhookOf(opening, operators, stripe),
    relay: relaying.services,
  }
}

function operatorOf({ config }: Opening, { members, operators }: Below): Operator {
  const { taxPercent: tax, taxNote: note = null } = config
  const { checkout, signUp } = operators.operations
  return {
    name: config.operatorName ?? null,
    contact: config.operatorContact ?? null,
    address: config.operatorAddress ?? null,
    tax: tax === undefined ? null : { percent: tax / 1_000, note },
    members: members?.signInMails !== undefined,
    sign_up: signUp?.mode ?? null,
    oidc: members?.oidc?.host ?? null,
    payments: checkout ? { least_usd: checkout.leastUsd, most_usd: checkout.mostUsd } : null,
  }
}

function adminParts(opening: Opening, below: Below, clients: Listener): Omit<AdminParts, 'oidc'> {
  const { effects, metrics, telemetry } = opening
  const { site, isDraining, money, callers, operators, catchUp } = below
  const { authenticate, sessions, addresses } = callers
  return {
    clock: effects.clock,
    events: operators.events,
    site,
    operations: operators.operations,
    store: opening.config.store,
    addressOf: ({ socket, rawHeaders }) =>
      addresses.find(addresses.peer(readAddress(socket.remoteAddress ?? '')), fieldsOf(rawHeaders)),
    openStore: money.openAnother,
    catchUp,
    onFault: (error) => telemetry.fault(error, 'api'),
    authenticate,
    sessions,
    metricsType: metrics.registry.contentType,
    isReady: () => !isDraining() && money.store.isAvailable(),
    readMetrics: async () => {
      if (effects.place !== undefined)
        return effects.place.uniteMetrics(() => reportOwn(opening, below, clients))
      measureGateway(opening, { ...below, listener: clients })
      return metrics.registry.metrics()
    },
  }
}

function reportOwn(opening: Opening, below: Below, listener: Listener): Promise<MetricsReport> {
  measureGateway(opening, { ...below, listener })
  return reportMetrics(opening.metrics)
}

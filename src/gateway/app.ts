/**
 * One gateway: opens its parts in order, drains, and closes them in reverse order, listeners first and the
 * store last. It decides nothing about exchanges; what each part consists of stands in parts/.
 */
import { join } from 'node:path'
import { loadSite } from '../api/web/site.ts'
import { openAll } from '../base/opening.ts'
import type { HealthBook } from '../channels/health/health-book.ts'
import type { LoadedSnapshot } from '../channels/snapshot.ts'
import type { Listener } from '../http/server/listener.ts'
import { openMailer } from '../operations/alerts/mailer.ts'
import type { Alerting } from '../operations/alerts/alerting.ts'
import type { Config } from '../settings/list.ts'
import type { Database } from '../storage/database.ts'
import type { MetricsReport } from '../telemetry/united-metrics.ts'
import { drain, retire } from './draining.ts'
import type { Effects } from './effects.ts'
import { startBackground } from './parts/background.ts'
import { openCallers } from './parts/callers.ts'
import { openCatalogue } from './parts/catalogue.ts'
import { openListeners } from './parts/listeners.ts'
import { openMembers } from './parts/members.ts'
import { openMoney } from './parts/money.ts'
import { beginOpening } from './parts/opening.ts'
import { openOperators } from './parts/operators.ts'
import { openPayments } from './parts/payments.ts'
import { openRelaying } from './parts/relaying.ts'

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

const builtSite = join(import.meta.dirname, '../../console/built')

/**
 * Opens a gateway. Where a part cannot be opened, every part opened before is closed again: no lock,
 * connection, thread or timer is left. The schema of the store may be newer then; on SQLite only where
 * no other gateway was serving the store.
 */
export function createApp(config: Config, effects: Effects): Promise<App> {
  return openAll((opened) => openApp(config, effects, opened))
}

async function openApp(
  config: Config,
  effects: Effects,
  opened: AsyncDisposableStack,
): Promise<App> {
  const site = await loadSite(effects.siteFolder ?? builtSite)
  const opening = beginOpening(config, effects, opened)

  const money = await openMoney(opening)
  const { database, membership } = money.store
  const callers = openCallers(opening, money)
  const catalogue = await openCatalogue(opening, database)
  const relaying = await openRelaying(opening, { money, callers, catalogue })
  const mail = openMailer(config)
  const background = startBackground(opening, { money, callers, catalogue, relaying, mail })
  const { alerting, bookkeeping, catchUp } = background
  const stripe = await openPayments(opening)
  const operators = openOperators(opening, { money, relaying, bookkeeping, mail, stripe })
  const members = await openMembers(opening, { callers, operators, catchUp })
  let isDraining = false
  const listeners = await openListeners(opening, {
    site,
    money,
    callers,
    catalogue,
    relaying,
    operators,
    stripe,
    members,
    catchUp,
    isDraining: () => isDraining,
  })

  let closing: Promise<void> | undefined
  function close(): Promise<void> {
    isDraining = true
    return (closing ??= opened.disposeAsync())
  }
  const drainParts = {
    clock: effects.clock,
    running: callers.running,
    watchdog: relaying.watchdog,
    events: operators.events,
    ...listeners,
    close,
  }
  return {
    address: listeners.clients.address,
    adminAddress: listeners.operators.address,
    health: relaying.channels.health,
    snapshot: catalogue.snapshot,
    database,
    alerting,
    async refresh() {
      await catchUp()
      await relaying.channels.exchanged()
    },
    drain(timeoutMs) {
      isDraining = true
      membership.noteDraining()
      return drain(drainParts, timeoutMs)
    },
    retire(timeoutMs) {
      membership.noteDraining()
      return retire(drainParts, timeoutMs)
    },
    reportMetrics: listeners.reportMetrics,
    close,
  }
}

/**
 * Sets the gauges of a gateway: those that are read with each question for metrics, and those of balances,
 * which come with each round of the alerts.
 */
import { usdNumber } from '../../base/money.ts'
import { measureChannels } from '../../channels/cluster/channel-keeper.ts'
import type { Listener } from '../../http/server/listener.ts'
import type { BalanceMetrics } from '../../operations/alerts/balance-sums.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Opening } from './opening.ts'
import type { RelayingParts } from './relaying.ts'

export interface Measured extends RelayingParts {
  readonly listener: Listener
}

export function measureGateway({ metrics, effects }: Opening, measured: Measured): void {
  const { money, callers, catalogue, relaying, listener } = measured
  const { ledger, freeExchanges } = money.store
  metrics.logLinesDropped.reset()
  metrics.logLinesDropped.inc(effects.droppedLogLines?.() ?? 0)
  metrics.freeExchangesDropped.reset()
  metrics.freeExchangesDropped.inc(freeExchanges.droppedCount)
  metrics.running.set(callers.running.runningCount)
  const holds = ledger.openHolds()
  metrics.openHolds.set(holds.count)
  metrics.heldUsd.set(usdNumber(holds.heldPicos))
  metrics.clientConnections.set(listener.connectionCount())
  metrics.storeUp.set(money.store.isAvailable() ? 1 : 0)
  metrics.journalWaiting.set(relaying.channels.journalWaitingCount())
  measureChannels(metrics, relaying.channels.health.list(catalogue.snapshot()))
}

export function measureBalances(metrics: Metrics, balances: BalanceMetrics): void {
  metrics.accounts.set(balances.accountCount)
  metrics.balancesUsd.set(balances.balanceUsd)
  metrics.spendDayUsd.set(balances.spendDayUsd)
}

/**
 * Connects the alerts of a running gateway with its settings, its mail server, the network and the metrics.
 * Part of the composition root: it decides nothing about alerts.
 */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Clock } from '../../base/clock.ts'
import { GatewayError } from '../../base/errors.ts'
import type { Random } from '../../base/random.ts'
import { Secret } from '../../base/secret.ts'
import type { GatewayStore } from '../store.ts'
import { createOutgoingPost } from '../../http/client/outgoing-post.ts'
import { Alerting } from '../../operations/alerts/alerting.ts'
import type { BalanceFigures } from '../../operations/alerts/balance-sums.ts'
import { createMailer, type SendMail } from '../../operations/alerts/mailer.ts'
import type { Config } from '../../settings/list.ts'
import type { Telemetry } from '../../telemetry/events.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

export interface AlertingParts {
  readonly config: Config
  readonly clock: Clock
  readonly random: Random
  readonly masterKey: () => Secret
  readonly store: Pick<GatewayStore, 'database' | 'membership' | 'isAvailable'>
  readonly readStoreTime: (() => number) | undefined
  readonly telemetry: Telemetry
  readonly metrics: Metrics
}

/** Longer than a receiver needs that is well; a hanging one keeps only its own messages waiting. */
const postTimeoutMs = 10_000

/** Throws `operations.invalid` where the file of the mail server's password cannot be read. */
export function startAlerting(parts: AlertingParts): Alerting {
  const { config, clock, random, masterKey, store, telemetry, metrics } = parts
  return Alerting.start({
    random,
    database: store.database,
    membership: store.membership,
    sending: {
      clock,
      masterKey,
      region: config.region,
      post: createOutgoingPost({
        clock,
        timeoutMs: postTimeoutMs,
        allowed: config.alertNetworks,
      }),
      mail: openMailer(config),
    },
    nodeName: config.nodeName ?? hostname(),
    isStoreAvailable: () => store.isAvailable(),
    readTime: parts.readStoreTime,
    runOutWithinMs: config.alertRunOutMs,
    backupMaxAgeMs: config.backupMaxAgeMs,
    onBalances: (figures) => measureBalances(metrics, figures),
    onWaiting: (count) => metrics.alertsWaiting.set(count),
    onAttempt: ({ id, format }, result) =>
      telemetry.alertSent({
        target: id,
        format,
        isDelivered: result.kind === 'delivered',
        outcome: result.outcome,
      }),
    onError: (error) => telemetry.fault(error, 'alerts'),
  })
}

function openMailer(config: Config): SendMail | undefined {
  const { smtp: url, smtpFrom: from, smtpPasswordFile: file } = config
  if (url === undefined || from === undefined) return undefined
  const password = config.smtpPassword ?? (file === undefined ? undefined : readPassword(file))
  return createMailer({ url, from, password })
}

function readPassword(file: string): Secret {
  try {
    return new Secret(readFileSync(file, 'utf8').trim())
  } catch (error) {
    throw new GatewayError(
      'operations.invalid',
      `The file ${file} of smtp_password_file cannot be read. Correct the path or its permissions.`,
      { cause: error },
    )
  }
}

/** Replaces what was shown before, so that the number of series stays bounded. */
function measureBalances(metrics: Metrics, figures: BalanceFigures): void {
  metrics.accounts.set(figures.accountCount)
  metrics.balancesUsd.set(figures.balanceUsd)
  metrics.spendDayUsd.set(figures.spendDayUsd)
  const { accountBalanceUsd, accountSpendDayUsd, accountLimitUsedRatio, keyLimitUsedRatio } =
    metrics
  accountBalanceUsd.reset()
  accountSpendDayUsd.reset()
  accountLimitUsedRatio.reset()
  keyLimitUsedRatio.reset()
  for (const { account, balanceUsd, spendDayUsd } of figures.balances) {
    accountBalanceUsd.set({ account }, balanceUsd)
    accountSpendDayUsd.set({ account }, spendDayUsd)
  }
  for (const { account, usedShare } of figures.limits)
    accountLimitUsedRatio.set({ account }, usedShare)
  for (const { key, period, usedShare } of figures.keyLimits)
    keyLimitUsedRatio.set({ key, period }, usedShare)
}

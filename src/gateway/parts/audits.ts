/**
 * Connects the audits of a running gateway with the store, the log, the metrics and the alerts. Part of the
 * composition root: it decides nothing about the books.
 */
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { utcDay, type Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Alerting } from '../../operations/alerts/alerting.ts'
import { AuditJournal } from '../../operations/store/audit-journal.ts'
import { startBookkeeping, type Bookkeeping } from '../../operations/store/bookkeeping.ts'
import type { Config } from '../../settings/list.ts'
import type { Database } from '../../storage/database.ts'
import type { Telemetry } from '../../telemetry/events.ts'

export interface AuditsParts {
  readonly config: Config
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Where audits are recorded; no request waits for it. */
  readonly database: Database
  readonly alerting: Pick<Alerting, 'noteAudit'>
  readonly telemetry: Telemetry
}

const differencesLogged = 20

export function startAudits(parts: AuditsParts): Bookkeeping {
  const { config, clock, log, database, alerting, telemetry } = parts
  const scheduled = { scope: 'recent', actor: `gateway:${config.nodeName ?? hostname()}` } as const
  const journal = new AuditJournal({
    clock,
    database,
    onRecorded: () => alerting.noteAudit(),
    onError: (error) => telemetry.fault(error, 'audit'),
  })
  const bookkeeping = startBookkeeping({
    clock,
    random: parts.random,
    store: config.store,
    auditIntervalMs: config.auditIntervalMs,
    requestRetentionMs: config.requestRetentionMs,
    onAudit(audit, times) {
      journal.add({ ...scheduled, ...times, audit })
      const { counts, differences } = audit
      telemetry.audited({
        differenceCount: counts.differences,
        differences: differences.slice(0, differencesLogged).map((one) => ({ ...one })),
        endedAtMs: clock.now(),
        durationMs: times.durationMs,
      })
    },
    onRetention: ({ cutMs, removed }) => {
      if (removed > 0) log.info({ keptFrom: utcDay(cutMs), removed }, 'old exchanges removed')
    },
    onError(error, { isAudited, ...times }) {
      if (isAudited) return telemetry.fault(error, 'retention')
      telemetry.auditFailed(error)
      journal.add({ ...scheduled, ...times, error })
    },
  })
  return {
    auditFully: () => bookkeeping.auditFully(),
    copyTo: (path) => bookkeeping.copyTo(path),
    async close() {
      await bookkeeping.close()
      await journal.close()
    },
  }
}

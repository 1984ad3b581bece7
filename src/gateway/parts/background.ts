/**
 * Starts the work of a gateway beside requests: it follows changes of the store and of credential files,
 * sends alerts, audits the ledger and removes old exchanges, and records the sums of the day.
 */
import { utcDay } from '../../base/clock.ts'
import { watchCredentialFiles } from '../../channels/credential-file.ts'
import { createOutgoingPost } from '../../http/client/outgoing-post.ts'
import { Alerting } from '../../operations/alerts/alerting.ts'
import type { SendMail } from '../../operations/alerts/mailer.ts'
import { startMoments } from '../../operations/reports/moments.ts'
import { AuditJournal } from '../../operations/store/audit-journal.ts'
import { startBookkeeping, type Bookkeeping } from '../../operations/store/bookkeeping.ts'
import { startSealing, type Sealing } from '../../operations/store/sealing.ts'
import { watchRevisions } from '../../storage/changes.ts'
import type { RevisionArea } from '../../storage/database.ts'
import { readStoreTime } from '../../storage/node-store.ts'
import { measureBalances } from './measuring.ts'
import type { Money } from './money.ts'
import type { Opening } from './opening.ts'
import type { RelayingParts } from './relaying.ts'

export interface Background {
  /** Follows all changes of the store, without waiting for the next poll. */
  readonly catchUp: () => Promise<void>
  readonly alerting: Alerting
  readonly bookkeeping: Bookkeeping
}

export function startBackground(
  opening: Opening,
  below: RelayingParts & { readonly mail: SendMail | undefined },
): Background {
  const { effects, onError, opened } = opening
  const { store, operatorStore } = below.money
  const catchUp = followChanges(opening, below)
  const alerting = startAlerting(opening, store, below.mail)
  opened.defer(() => alerting.close())
  const journal = new AuditJournal({
    clock: effects.clock,
    database: operatorStore,
    onRecorded: () => alerting.noteAudit(),
    onError: (error) => opening.telemetry.fault(error, 'audit'),
  })
  opened.defer(() => journal.close())
  const bookkeeping = startAudits(opening, journal)
  opened.defer(() => bookkeeping.close())
  const sealing = seal(opening, store, bookkeeping)
  opened.defer(() => sealing.close())
  const moments = startMoments({ clock: effects.clock, database: store.database, onError })
  opened.defer(() => moments.close())
  return { catchUp, alerting, bookkeeping }
}

function followChanges(
  { effects, telemetry, opened }: Opening,
  { money: { store }, callers, catalogue, relaying }: RelayingParts,
): () => Promise<void> {
  const { clock } = effects
  const { database, ledger, revisions } = store
  const { channels, upstream } = relaying
  const onError = (error: unknown): void => telemetry.fault(error, 'changes')
  function loadCatalogue(revision: number): Promise<void> {
    return catalogue.load(revision, (previous, current) => {
      channels.follow(previous, current)
      upstream.retain(new Set(current.channels.keys()))
    })
  }
  async function follow(area: RevisionArea, revision: number): Promise<void> {
    if (area === 'access' || area === 'accounts') callers.keys.clear()
    if (area === 'accounts' || area === 'balances') await ledger.refresh()
    if (area === 'catalogue') await loadCatalogue(revision)
  }
  const files = watchCredentialFiles({
    clock,
    stamps: () => catalogue.snapshot().credentialFiles,
    onChange: () => loadCatalogue(catalogue.snapshot().revision),
    onError,
  })
  opened.defer(() => files.cancel())
  const watch = watchRevisions({
    database,
    clock,
    since: catalogue.since,
    onChange: follow,
    onError,
    onRecovered: (area) => telemetry.changesFollowed(area),
    ...revisions,
  })
  opened.defer(() => watch.close())
  return () => watch.catchUp()
}

function seal(
  { effects, telemetry }: Opening,
  store: Money['store'],
  bookkeeping: Bookkeeping,
): Sealing {
  const { clock, masterKey, readStoreTime: readTime } = effects
  return startSealing({
    clock,
    membership: store.membership,
    readTime: () =>
      readTime === undefined ? readStoreTime(store.database, clock) : Promise.resolve(readTime()),
    masterKey,
    seal: (order) => bookkeeping.seal(order),
    isStoreAvailable: () => store.isAvailable(),
    onError: (error) => telemetry.fault(error, 'sealing'),
  })
}

/** Longer than a healthy receiver needs; a hanging one keeps only its own messages waiting. */
const postTimeoutMs = 10_000

function startAlerting(
  opening: Opening,
  store: Money['store'],
  mail: SendMail | undefined,
): Alerting {
  const { config, effects, metrics, nodeName, telemetry } = opening
  const { clock, random, masterKey } = effects
  const { region, alertNetworks: allowed } = config
  return Alerting.start({
    random,
    database: store.database,
    membership: store.membership,
    sending: {
      clock,
      masterKey,
      region,
      post: createOutgoingPost({ clock, timeoutMs: postTimeoutMs, allowed }),
      mail,
    },
    nodeName,
    isStoreAvailable: () => store.isAvailable(),
    readTime: effects.readStoreTime,
    runOutWithinMs: config.alertRunOutMs,
    backupMaxAgeMs: config.backupMaxAgeMs,
    onNotice: ({ condition, severity, type }) =>
      telemetry.alertChanged({ ...condition, severity }, type),
    onBalances: (balances) => measureBalances(metrics, balances),
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

const differencesLogged = 20

function startAudits(
  { config, effects, nodeName, telemetry }: Opening,
  journal: AuditJournal,
): Bookkeeping {
  const { clock, random, log } = effects
  const scheduled = { scope: 'recent', actor: `gateway:${nodeName}` } as const
  return startBookkeeping({
    clock,
    random,
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
}

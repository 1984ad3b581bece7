/**
 * Looks at everything a gateway needs and says, for each thing that is wrong, what to do. It
 * changes nothing: what it writes to see whether the store takes it is undone.
 */
import { listKeys } from '../access/key-store.ts'
import { listAccounts } from '../ledger/account-store.ts'
import type { LoadedSnapshot } from '../channels/snapshot.ts'
import { GatewayError } from '../base/errors.ts'
import { refuseNewerSchema, schemaVersion } from '../storage/migrate.ts'
import { refuseUnfinishedCopy } from '../storage/store-copy.ts'
import { tryWriting } from '../storage/write-trial.ts'
import { reviewSinceCheckpoints } from './audit.ts'
import { readSnapshot, type RunCheck } from './channels.ts'
import type { OperationContext } from './context.ts'

export interface Finding {
  readonly area: 'store' | 'ledger' | 'catalogue' | 'vendors' | 'access'
  readonly status: 'ok' | 'advice' | 'problem'
  /** What was found and, unless it is fine, what to do. */
  readonly message: string
}

export interface Diagnosis {
  /** False where something keeps the gateway from doing its work. */
  readonly ok: boolean
  readonly findings: readonly Finding[]
}

export async function diagnose(context: OperationContext, run: RunCheck): Promise<Diagnosis> {
  const outdated = await findOutdatedSchema(context)
  if (outdated !== undefined) return { ok: false, findings: [outdated] }
  await refuseUnfinishedCopy(context.database)
  const snapshot = await readSnapshot(context)
  const findings = [
    await examineStore(context),
    await examineLedger(context),
    ...examineCatalogue(snapshot),
    ...(await examineVendors(snapshot, run)),
    ...(await examineAccess(context)),
  ]
  return { ok: findings.every((finding) => finding.status !== 'problem'), findings }
}

/** What there is to say where the store does not let itself be examined; undefined for any other fault. */
export function diagnoseOutage(error: unknown): Diagnosis | undefined {
  if (!(error instanceof GatewayError) || error.code !== 'ledger.unavailable') return undefined
  return { ok: false, findings: [problem('store', error.message)] }
}

/** Of a store whose tables are not yet those of this program nothing else can be said. */
async function findOutdatedSchema({ database }: OperationContext): Promise<Finding | undefined> {
  const version = await schemaVersion(database, database.dialect)
  const needed = refuseNewerSchema(version, database.dialect)
  if (version === needed) return undefined
  const message =
    `The store has schema version ${version}, and this program needs ${needed}. Take a backup with ` +
    'the program that used it last, then run: turnpike migrate'
  return problem('store', message)
}

async function examineStore(context: OperationContext): Promise<Finding> {
  const version = await schemaVersion(context.database, context.database.dialect)
  try {
    await tryWriting(context.database)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return problem('store', `It cannot be written, so nothing can be charged. ${error.message}`)
  }
  return ok('store', `The store is writable and has schema version ${version}.`)
}

/** As a running gateway audits itself: all of the past would take hours where there is much of it. */
async function examineLedger(context: OperationContext): Promise<Finding> {
  const { clean, counts } = await reviewSinceCheckpoints(context)
  return clean
    ? ok(
        'ledger',
        `${counts.accounts} accounts agree with their ${counts.entries} entries since the gateway's ` +
          'own audits. To look at everything, run: turnpike audit.',
      )
    : problem(
        'ledger',
        `The books differ in ${counts.differences} places. Run: turnpike audit. ` +
          'Keep a copy of the store before anything else is done with it.',
      )
}

function examineCatalogue(snapshot: LoadedSnapshot): readonly Finding[] {
  const { vendors, models, channels, channelsByModel, outOfService } = snapshot
  if (vendors.size === 0) {
    return [problem('catalogue', 'It is empty. Write one and run: turnpike apply -f catalog.yaml')]
  }
  const findings: Finding[] = outOfService.map((one) =>
    problem('catalogue', `${one.kind} ${one.name} is not served: ${one.reason}.`),
  )
  for (const model of models.values()) {
    const serving = channelsByModel.get(model.id) ?? []
    const enabled = serving.filter((channel) => channel.override === 'enabled')
    if (serving.length === 0) {
      findings.push(problem('catalogue', explainUnserved(model.id, outOfService)))
    } else if (enabled.length === 0) {
      const message = `every channel of model ${model.id} is switched off by hand. Run: turnpike channel on NAME`
      findings.push(problem('catalogue', message))
    } else if (enabled.length === 1) {
      const message = `model ${model.id} has one channel in use and no reserve; a second one would take over.`
      findings.push(advice('catalogue', message))
    }
  }
  const counts = `${vendors.size} vendors, ${models.size} models, ${channels.size} channels`
  return [ok('catalogue', `It has ${counts} ready to serve.`), ...findings]
}

function explainUnserved(model: string, outOfService: LoadedSnapshot['outOfService']): string {
  const names = outOfService
    .filter((one) => one.kind === 'channel' && one.models.includes(model))
    .map(({ name }) => name)
  return names.length === 0
    ? `model ${model} has no channel; add one and apply.`
    : `every channel of model ${model} is out of service (${names.join(', ')}); what is said of them tells why.`
}

/** A listing call costs nothing; an answer of any kind but a refused credential shows a way there. */
async function examineVendors(
  snapshot: LoadedSnapshot,
  run: RunCheck,
): Promise<readonly Finding[]> {
  return Promise.all(
    [...snapshot.channels.values()].map(async (channel): Promise<Finding> => {
      const vendor = snapshot.vendors.get(channel.vendor)
      const [model] = channel.models.keys()
      if (vendor === undefined || model === undefined) {
        return advice('vendors', `channel ${channel.name} serves no model and was not asked.`)
      }
      const { outcome, durationMs, status } = await run({ vendor, channel, model, by: 'models' })
      if (outcome === 'config') {
        const message = `channel ${channel.name}: the vendor refuses the credential (${status}). Give a valid one and apply.`
        return problem('vendors', message)
      }
      if (status === undefined) {
        const message = `channel ${channel.name}: nobody answers at ${channel.url}. Check the address and the way there.`
        return problem('vendors', message)
      }
      const took = `${Math.round(durationMs)} ms`
      return outcome === 'ok' || outcome === 'client'
        ? ok('vendors', `channel ${channel.name} answers in ${took}.`)
        : advice('vendors', `channel ${channel.name} answers in ${took} with status ${status}.`)
    }),
  )
}

async function examineAccess(context: OperationContext): Promise<readonly Finding[]> {
  const { database, clock } = context
  const accounts = await listAccounts(database)
  const active = accounts.filter((account) => account.status === 'active')
  if (active.length === 0) {
    const message = 'There is no active account. Run: turnpike account create NAME --balance 10'
    return [advice('access', message)]
  }
  const isLive = (key: { revokedAtMs: number | undefined; expiresAtMs: number | undefined }) =>
    key.revokedAtMs === undefined && (key.expiresAtMs ?? Infinity) > clock.now()
  const withoutKey: string[] = []
  for (const account of active) {
    const keys = await listKeys(database, { kind: 'client', accountId: account.id })
    if (!keys.some(isLive)) withoutKey.push(account.name)
  }
  const admins = await listKeys(database, { kind: 'admin', accountId: undefined })
  const findings = [ok('access', `${active.length} of ${accounts.length} accounts are active.`)]
  if (withoutKey.length > 0) {
    const message = `No usable key: ${withoutKey.join(', ')}. Run: turnpike key create ACCOUNT`
    findings.push(advice('access', message))
  }
  if (!admins.some(isLive)) {
    const message = 'There is no usable admin token. Run: turnpike admin-token create'
    findings.push(advice('access', message))
  }
  return findings
}

function ok(area: Finding['area'], message: string): Finding {
  return { area, status: 'ok', message }
}

function advice(area: Finding['area'], message: string): Finding {
  return { area, status: 'advice', message }
}

function problem(area: Finding['area'], message: string): Finding {
  return { area, status: 'problem', message }
}

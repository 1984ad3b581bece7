/**
 * Checks everything that a gateway needs and says what to do about each problem. It changes nothing: the
 * write that tests the store is rolled back.
 */
import { z } from 'zod'
import { listKeys } from '../../access/key-store.ts'
import { listAccounts } from '../../ledger/account-store.ts'
import { findUnreadable, hasSigningKey } from '../../ledger/proof/signing-keys.ts'
import { listStates, type PublishedState } from '../../channels/cluster/channel-states.ts'
import { checkOperation } from '../../channels/offer.ts'
import type { RunCheck } from '../channels/run-check.ts'
import type { BrokenClass } from '../../channels/outcomes.ts'
import type { LoadedSnapshot } from '../../channels/snapshot.ts'
import { GatewayError } from '../../base/errors.ts'
import { readSchemaState, schemaVersion } from '../../storage/migrate.ts'
import { isRunning, listNodes, readStoreTime } from '../../storage/node-store.ts'
import { tryWriting } from '../../storage/sqlite/sqlite.ts'
import { reviewSinceCheckpoints } from './audit.ts'
import { readLatestResults } from './audit-store.ts'
import { demoPort, findDemoAccess } from '../catalogue/demo.ts'
import { findMissingLimits } from '../catalogue/missing-limits.ts'
import { findCountConditions } from '../alerts/count-rules.ts'
import { readSnapshot } from '../channels/channel-check.ts'
import type { Answer } from '../answer-forms.ts'
import {
  advice,
  findingForm,
  listed,
  ok,
  problem,
  type DoctorCode,
  type Finding,
} from './doctor-findings.ts'
import { noInput, operation, timeText, type OperationContext } from '../operation.ts'

const diagnosisForm = z.strictObject({
  /** False where a finding is a problem. */
  ok: z.boolean(),
  settings: z.record(z.string(), z.string()).meta({
    description: 'Settings of the gateway that examined, without secrets.',
  }),
  findings: z.array(findingForm),
})

export type Diagnosis = Answer<typeof diagnosisForm>

export const diagnose = operation({ input: noInput, answer: diagnosisForm }, async (context) => {
  const settings = settingTexts(context)
  const outdated = await findOutdatedSchema(context)
  if (outdated !== undefined) return { ok: false, settings, findings: [outdated] }
  const snapshot = await readSnapshot(context)
  const findings = [
    await examineStore(context),
    await examineLedger(context),
    ...(await examineSigner(context)),
    ...(await examineProxies(context)),
    ...(await examineCatalogue(snapshot, context)),
    ...(await examineVendors(snapshot, context)),
    ...(await examineAnswers(context)),
    ...(await examineAccess(context)),
    ...(await examineDemo(context, snapshot)),
  ]
  return { ok: findings.every((finding) => finding.status !== 'problem'), settings, findings }
})

function settingTexts({ settings = [] }: OperationContext): Diagnosis['settings'] {
  return Object.fromEntries(
    settings.flatMap(({ name, value }) => (value === null ? [] : [[name, value]])),
  )
}

/** Turns the fault of an unreachable store into a finding; undefined for any other fault. */
export function diagnoseOutage(
  error: unknown,
  settings: Diagnosis['settings'],
): Diagnosis | undefined {
  if (!(error instanceof GatewayError) || error.code !== 'ledger.unavailable') return undefined
  return {
    ok: false,
    settings,
    findings: [problem('store', 'store_unreachable', { reason: error.message })],
  }
}

/** Finds a schema that a migration is due for. Nothing else can be checked on it. */
async function findOutdatedSchema({ database }: OperationContext): Promise<Finding | undefined> {
  const { version, isCurrent } = await readSchemaState(database)
  if (isCurrent) return undefined
  return problem('store', 'store_outdated', { version })
}

async function examineStore(context: OperationContext): Promise<Finding> {
  const version = await schemaVersion(context.database, context.database.dialect)
  try {
    await tryWriting(context.database)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return problem('store', 'store_unwritable', { reason: error.message })
  }
  return ok('store', 'store_writable', { version })
}

/** Running gateways publish which peers forward to them and are not trusted. */
async function examineProxies({ database, clock }: OperationContext): Promise<readonly Finding[]> {
  const nowMs = await readStoreTime(database, clock)
  const nodes = await listNodes(database)
  return nodes
    .filter((node) => isRunning(node, nowMs) && node.unlistedProxies.length > 0)
    .map(({ name, unlistedProxies }) =>
      advice('proxies', 'unlisted_proxy', { gateway: name, ...listed(unlistedProxies) }),
    )
}

/** Running gateways publish what answers have shown about channels. */
async function examineAnswers({ database, clock }: OperationContext): Promise<readonly Finding[]> {
  const nowMs = await readStoreTime(database, clock)
  const running = (await listNodes(database)).filter((node) => isRunning(node, nowMs))
  const ids = running.map(({ id }) => id)
  const states = await listStates(database, ids)
  const found = findCountConditions(states.map(({ line }) => line))
  const refusing = states.flatMap(({ line }) => (line.isUsageRefused === true ? line.channel : []))
  return [
    // The sentence of the alert.
    ...found.map(({ kind, text, facts }): Finding => ({
      area: 'vendors',
      status: 'advice',
      message: text,
      code: kind,
      facts,
    })),
    ...[...new Set(refusing)].map((channel) => advice('vendors', 'usage_refused', { channel })),
    ...explainWaits(states),
  ]
}

function explainWaits(states: readonly PublishedState[]): readonly Finding[] {
  const learned = states
    .filter(({ line }) => line.waits.some(({ limitMs }) => limitMs !== undefined))
    .map(({ line }) => `${line.channel} ${line.model}`)
  if (learned.length === 0) return []
  return [ok('vendors', 'learned_waits', listed([...new Set(learned)]))]
}

/** Audits new rows, as a running gateway does: a full audit of a large store takes hours. */
async function examineLedger(context: OperationContext): Promise<Finding> {
  const { clean, counts } = await reviewSinceCheckpoints(context)
  const full = (await readLatestResults(context.database)).find(({ scope }) => scope === 'full')
  if (!clean) return problem('ledger', 'audit_failed', { differences: counts.differences })
  const { accounts, entries } = counts
  if (full === undefined) return ok('ledger', 'audit_passed_alone', { accounts, entries })
  const { result, startedAtMs } = full
  return ok('ledger', 'audit_passed', { accounts, entries, result, at: timeText(startedAtMs) })
}

async function examineSigner({
  database,
  masterKey,
}: OperationContext): Promise<readonly Finding[]> {
  if (!(await hasSigningKey(database))) return []
  const reason = await findUnreadable(database, masterKey())
  return reason === undefined ? [] : [problem('ledger', 'signing_key_unreadable', { reason })]
}

async function examineCatalogue(
  snapshot: LoadedSnapshot,
  { clock }: OperationContext,
): Promise<readonly Finding[]> {
  const { vendors, models, channels, channelsByModel, outOfService } = snapshot
  if (vendors.size === 0) {
    return [problem('catalogue', 'catalogue_empty')]
  }
  const findings: Finding[] = outOfService.map(({ kind, name, reason }) =>
    problem('catalogue', 'out_of_service', { kind, name, reason }),
  )
  for (const model of models.values()) {
    const serving = channelsByModel.get(model.id) ?? []
    const enabled = serving.filter((channel) => channel.override === 'enabled')
    if (serving.length === 0) {
      findings.push(explainUnserved(model.id, outOfService))
    } else if (enabled.length === 0) {
      findings.push(problem('catalogue', 'model_disabled', { model: model.id }))
    } else if (enabled.length === 1) {
      findings.push(advice('catalogue', 'model_without_reserve', { model: model.id }))
    }
  }
  for (const { text, ...missing } of await findMissingLimits(
    [...models.values()],
    snapshot,
    clock.now(),
  )) {
    const message = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
    findings.push({ area: 'catalogue', status: 'advice', message, ...missing })
  }
  const counts = { vendors: vendors.size, models: models.size, channels: channels.size }
  return [ok('catalogue', 'catalogue_ready', counts), ...findings]
}

function explainUnserved(model: string, outOfService: LoadedSnapshot['outOfService']): Finding {
  const names = outOfService
    .filter((one) => one.kind === 'channel' && one.models.includes(model))
    .map(({ name }) => name)
  return names.length === 0
    ? problem('catalogue', 'model_without_channel', { model })
    : problem('catalogue', 'model_out_of_service', { model, names })
}

/** Sends a free listing call to each channel. Any answer but a refused credential shows that it works. */
async function examineVendors(
  snapshot: LoadedSnapshot,
  { clock, runCheck }: OperationContext,
): Promise<readonly Finding[]> {
  const nowMs = clock.now()
  return Promise.all(
    [...snapshot.channels.values()].map(async (channel): Promise<Finding> => {
      const vendor = snapshot.vendors.get(channel.vendor)
      const [model] = channel.models.keys()
      const { name, url } = channel
      if (vendor === undefined || model === undefined)
        return advice('vendors', 'channel_without_model', { channel: name })
      const operation = checkOperation(vendor, model, { models: snapshot.models, nowMs })
      const check = { vendor, channel, model, operation, by: 'models' } as const
      return judge({ name, url }, await runCheck(check))
    }),
  )
}

const unreachedCodes: { readonly [Class in BrokenClass]?: DoctorCode } = {
  shortage: 'channel_shortage',
  address: 'channel_address',
  certificate_expired: 'channel_certificate_expired',
  tls: 'channel_tls',
  lookup: 'channel_lookup',
}

function judge(
  { name: channel, url }: { readonly name: string; readonly url: string },
  { outcome, durationMs, status, failure }: Awaited<ReturnType<RunCheck>>,
): Finding {
  const unreached = failure && unreachedCodes[failure]
  if (unreached !== undefined) return problem('vendors', unreached, { channel, url })
  if (status === undefined) return problem('vendors', 'channel_silent', { channel, url })
  if (outcome === 'config') return problem('vendors', 'channel_credential', { channel, status })
  if (outcome === 'no_credit') return problem('vendors', 'channel_credit', { channel, status })
  const ms = Math.round(durationMs)
  return outcome === 'ok' || outcome === 'client'
    ? ok('vendors', 'channel_answers', { channel, ms })
    : advice('vendors', 'channel_status', { channel, ms, status })
}

async function examineAccess(context: OperationContext): Promise<readonly Finding[]> {
  const { database, clock } = context
  const accounts = await listAccounts(database)
  const active = accounts.filter((account) => account.status === 'active')
  if (active.length === 0) {
    return [advice('access', 'no_account')]
  }
  const isValid = (key: { revokedAtMs: number | undefined; expiresAtMs: number | undefined }) =>
    key.revokedAtMs === undefined && (key.expiresAtMs ?? Infinity) > clock.now()
  const withoutKey: string[] = []
  for (const account of active) {
    const keys = await listKeys(database, { kind: 'client', accountId: account.id })
    if (!keys.some(isValid)) withoutKey.push(account.name)
  }
  const admins = await listKeys(database, { kind: 'admin', accountId: undefined })
  const counts = { active: active.length, accounts: accounts.length }
  const findings = [ok('access', 'active_accounts', counts)]
  if (withoutKey.length > 0) {
    findings.push(advice('access', 'accounts_without_key', { names: withoutKey }))
  }
  if (!admins.some(isValid)) {
    findings.push(advice('access', 'no_admin_token'))
  }
  return findings
}

/** Finds keys of the demo, which its first start printed, beside a catalogue of the operator's own. */
async function examineDemo(
  { database }: OperationContext,
  { channels }: LoadedSnapshot,
): Promise<readonly Finding[]> {
  if (demoPort([...channels.values()].map(({ url }) => url)) !== undefined) return []
  const { accounts, keys } = await findDemoAccess(database)
  if (keys.length === 0) return []
  const commands = [
    ...keys.map(({ kind, id }) => `turnpike ${kind === 'reader' ? 'token' : 'key'} revoke ${id}`),
    ...accounts.map(({ name }) => `turnpike account suspend ${name}`),
  ]
  return [advice('access', 'demo_keys', { commands: commands.join('; ') })]
}

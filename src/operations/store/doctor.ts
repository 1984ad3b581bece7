/**
 * Checks everything that a gateway needs and says what to do about each problem. It changes nothing: the
 * write that tests the store is rolled back.
 */
import { z } from 'zod'
import { listKeys } from '../../access/key-store.ts'
import { listAccounts } from '../../ledger/account-store.ts'
import { listStates, type PublishedState } from '../../channels/cluster/channel-states.ts'
import { checkOperation } from '../../channels/offer.ts'
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
import { noInput, operation, timeText, type OperationContext } from '../operation.ts'

const diagnosisForm = z.strictObject({
  /** False where a finding is a problem. */
  ok: z.boolean(),
  settings: z.record(z.string(), z.string()).meta({
    description: 'Settings of the gateway that examined, without secrets.',
  }),
  findings: z.array(
    z.strictObject({
      area: z.enum(['store', 'ledger', 'proxies', 'catalogue', 'vendors', 'access']),
      status: z.enum(['ok', 'advice', 'problem']),
      /** The finding and, for advice and problems, the next step. */
      message: z.string(),
    }),
  ),
})

export type Diagnosis = Answer<typeof diagnosisForm>
type Finding = Diagnosis['findings'][number]

const namesShownMax = 10

export const diagnose = operation({ input: noInput, answer: diagnosisForm }, async (context) => {
  const settings = settingTexts(context)
  const outdated = await findOutdatedSchema(context)
  if (outdated !== undefined) return { ok: false, settings, findings: [outdated] }
  const snapshot = await readSnapshot(context)
  const findings = [
    await examineStore(context),
    await examineLedger(context),
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
  return { ok: false, settings, findings: [problem('store', error.message)] }
}

/** Finds a schema that a migration is due for. Nothing else can be checked on it. */
async function findOutdatedSchema({ database }: OperationContext): Promise<Finding | undefined> {
  const { version, isCurrent } = await readSchemaState(database)
  if (isCurrent) return undefined
  const message =
    `The store has schema version ${version} and lacks a change that this program needs. Make a backup with ` +
    'the version that used it last, then run: turnpike migrate'
  return problem('store', message)
}

async function examineStore(context: OperationContext): Promise<Finding> {
  const version = await schemaVersion(context.database, context.database.dialect)
  try {
    await tryWriting(context.database)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return problem(
      'store',
      `The store cannot be written, so requests cannot be charged. ${error.message}`,
    )
  }
  return ok('store', `The store is writable and has schema version ${version}.`)
}

/** Running gateways publish which peers forward to them and are not trusted. */
async function examineProxies({ database, clock }: OperationContext): Promise<readonly Finding[]> {
  const nowMs = await readStoreTime(database, clock)
  const nodes = await listNodes(database)
  return nodes
    .filter((node) => isRunning(node, nowMs) && node.unlistedProxies.length > 0)
    .map(({ name, unlistedProxies }) => {
      const peers = listed(unlistedProxies)
      const message =
        `Requests to gateway ${name} were forwarded by ${peers}, which trusted_proxies does not list. ` +
        'All clients of such a proxy count as one address. If it is your proxy, add it to ' +
        'trusted_proxies and restart the gateway.'
      return advice('proxies', message)
    })
}

/** Running gateways publish what answers have shown about channels. */
async function examineAnswers({ database, clock }: OperationContext): Promise<readonly Finding[]> {
  const nowMs = await readStoreTime(database, clock)
  const running = (await listNodes(database)).filter((node) => isRunning(node, nowMs))
  const ids = running.map(({ id }) => id)
  const states = await listStates(database, ids)
  const found = findCountConditions(states.map(({ line }) => line))
  const refusing = states.flatMap(({ line }) => (line.isUsageRefused === true ? line.channel : []))
  const texts = [...found.map(({ text }) => text), ...[...new Set(refusing)].map(explainUsage)]
  return [...texts.map((text) => advice('vendors', text)), ...explainWaits(states)]
}

function explainWaits(states: readonly PublishedState[]): readonly Finding[] {
  const learned = states
    .filter(({ line }) => line.waits.some(({ limitMs }) => limitMs !== undefined))
    .map(({ line }) => `${line.channel} ${line.model}`)
  if (learned.length === 0) return []
  const names = listed([...new Set(learned)])
  const message = `Limits of silence are learned for ${names}. They are in: turnpike channel show NAME`
  return [ok('vendors', message)]
}

function explainUsage(channel: string): string {
  return (
    `Channel ${channel} refuses stream_options, by which the gateway asks for the usage of a stream. Its streams ` +
    'are not asked for a day at a time and may be charged by an estimate. To stop asking, write stream_usage: ' +
    'never in the catalogue.'
  )
}

/** Audits new rows, as a running gateway does: a full audit of a large store takes hours. */
async function examineLedger(context: OperationContext): Promise<Finding> {
  const { clean, counts } = await reviewSinceCheckpoints(context)
  const full = (await readLatestResults(context.database)).find(({ scope }) => scope === 'full')
  const lastFull =
    full === undefined
      ? 'No full audit is recorded.'
      : `The last full audit ${full.result} at ${timeText(full.startedAtMs)}.`
  return clean
    ? ok(
        'ledger',
        `Ledger audit passed since the last checkpoints: ${counts.accounts} accounts, ` +
          `${counts.entries} entries. ${lastFull} For a full audit run: turnpike audit`,
      )
    : problem(
        'ledger',
        `Ledger audit failed: ${counts.differences} differences. Copy the store before you do ` +
          'anything else. For details run: turnpike audit',
      )
}

async function examineCatalogue(
  snapshot: LoadedSnapshot,
  { clock }: OperationContext,
): Promise<readonly Finding[]> {
  const { vendors, models, channels, channelsByModel, outOfService } = snapshot
  if (vendors.size === 0) {
    return [
      problem(
        'catalogue',
        'The catalogue is empty. Write a file and run: turnpike apply -f catalog.yaml',
      ),
    ]
  }
  const findings: Finding[] = outOfService.map((one) =>
    problem('catalogue', `The ${one.kind} ${one.name} is not served: ${one.reason}.`),
  )
  for (const model of models.values()) {
    const serving = channelsByModel.get(model.id) ?? []
    const enabled = serving.filter((channel) => channel.override === 'enabled')
    if (serving.length === 0) {
      findings.push(problem('catalogue', explainUnserved(model.id, outOfService)))
    } else if (enabled.length === 0) {
      const message = `Every channel of model ${model.id} is disabled. Run: turnpike channel on NAME`
      findings.push(problem('catalogue', message))
    } else if (enabled.length === 1) {
      const message = `Model ${model.id} has one enabled channel and no reserve. Add a second channel, so that it can take over.`
      findings.push(advice('catalogue', message))
    }
  }
  for (const text of await findMissingLimits([...models.values()], snapshot, clock.now()))
    findings.push(advice('catalogue', `${text.charAt(0).toUpperCase()}${text.slice(1)}.`))
  const counts = `${vendors.size} vendors, ${models.size} models, ${channels.size} channels`
  return [ok('catalogue', `Ready to serve: ${counts}.`), ...findings]
}

function explainUnserved(model: string, outOfService: LoadedSnapshot['outOfService']): string {
  const names = outOfService
    .filter((one) => one.kind === 'channel' && one.models.includes(model))
    .map(({ name }) => name)
  return names.length === 0
    ? `Model ${model} has no channel. Add one to the catalogue and apply it.`
    : `Every channel of model ${model} is out of service (${names.join(', ')}). See the findings about them.`
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
      if (vendor === undefined || model === undefined) {
        return advice('vendors', `Channel ${channel.name} serves no model, so it was not checked.`)
      }
      const operation = checkOperation(vendor, model, { models: snapshot.models, nowMs })
      const check = { vendor, channel, model, operation, by: 'models' } as const
      const { outcome, durationMs, status, failure } = await runCheck(check)
      const unreached = failure && unreachedTexts[failure]
      if (unreached !== undefined)
        return problem('vendors', `Channel ${channel.name}: ${unreached}`)
      if (outcome === 'config') {
        const message = `Channel ${channel.name}: the vendor refuses the credential (${status}). Put a valid one in the catalogue and apply it.`
        return problem('vendors', message)
      }
      if (outcome === 'no_credit') {
        const message = `Channel ${channel.name}: the credit or spend limit at the vendor is used up (${status}). Raise it with the vendor.`
        return problem('vendors', message)
      }
      if (status === undefined) {
        const message = `Channel ${channel.name}: no answer from ${channel.url}. Check the address and the network.`
        return problem('vendors', message)
      }
      const took = `${Math.round(durationMs)} ms`
      return outcome === 'ok' || outcome === 'client'
        ? ok('vendors', `Channel ${channel.name} answers in ${took}.`)
        : advice('vendors', `Channel ${channel.name} answers in ${took} with status ${status}.`)
    }),
  )
}

const unreachedTexts: { readonly [Class in BrokenClass]?: string } = {
  shortage: 'not checked, because this machine is short of open files, ports or memory.',
  address:
    'its name leads to an address that is not public, or in plain text to one that is. If that address is on your own network, add allow_private: true.',
  tls: 'its certificate cannot be trusted. Check the address, the proxy and the clock.',
}

async function examineAccess(context: OperationContext): Promise<readonly Finding[]> {
  const { database, clock } = context
  const accounts = await listAccounts(database)
  const active = accounts.filter((account) => account.status === 'active')
  if (active.length === 0) {
    const message = 'There is no active account. Run: turnpike account create NAME --balance 10'
    return [advice('access', message)]
  }
  const isValid = (key: { revokedAtMs: number | undefined; expiresAtMs: number | undefined }) =>
    key.revokedAtMs === undefined && (key.expiresAtMs ?? Infinity) > clock.now()
  const withoutKey: string[] = []
  for (const account of active) {
    const keys = await listKeys(database, { kind: 'client', accountId: account.id })
    if (!keys.some(isValid)) withoutKey.push(account.name)
  }
  const admins = await listKeys(database, { kind: 'admin', accountId: undefined })
  const findings = [ok('access', `${active.length} of ${accounts.length} accounts are active.`)]
  if (withoutKey.length > 0) {
    const message = `Accounts without a valid key: ${withoutKey.join(', ')}. Run: turnpike key create ACCOUNT`
    findings.push(advice('access', message))
  }
  if (!admins.some(isValid)) {
    const message = 'There is no valid admin token. Run: turnpike admin-token create'
    findings.push(advice('access', message))
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
  const message = `Keys that the first start made for the demo are still valid. Run: ${commands.join('; ')}`
  return [advice('access', message)]
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, namesShownMax).join(', ')
  const rest = names.length - namesShownMax
  return rest > 0 ? `${shown} and ${rest} more` : shown
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

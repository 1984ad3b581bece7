/**
 * Looks at the store and brings the alerts in line with it: states of channels every 5 s, accounts every
 * 15 s, backups every minute. One node at a time does it. Invariant: no request waits for it, and each of its
 * reads is bounded, whatever the number of accounts.
 */
import { listLimitedKeys } from '../../access/key-store.ts'
import { dayMs, hourMs, utcDay, utcMonth } from '../../base/clock.ts'
import { listOfferedModels } from '../../channels/channel-store.ts'
import { listStates, type PublishedState } from '../../channels/cluster/channel-states.ts'
import { listWatchedAccounts } from '../../ledger/account-conditions.ts'
import { listRefused } from '../../ledger/free-exchange-store.ts'
import { readKeyUsage } from '../../ledger/key-usage.ts'
import { readSpend } from '../../ledger/usage.ts'
import type { Database } from '../../storage/database.ts'
import { isRunning, listNodes } from '../../storage/node-store.ts'
import { findLastAction } from '../actions.ts'
import { backupAction } from '../store/backup.ts'
import {
  accountKinds,
  findAccountConditions,
  usedUpCodes,
  type RuleMoment,
} from './account-rules.ts'
import { keyOf, type Finding } from './alert-kind.ts'
import { BalanceSums, type BalanceMetrics } from './balance-sums.ts'
import { channelKinds, findChannelConditions, type MissingModel } from './channel-rules.ts'
import { countKinds, findCountConditions } from './count-rules.ts'
import { withoutKnown } from './limit-step-store.ts'
import { findLimitSteps, tellLimitSteps, type ReachedStep } from './limit-steps.ts'
import { applyObservation, readConditions, type RaiseOptions } from './raise.ts'

export interface WatchOptions extends RaiseOptions {
  /** 0 = no projection. */
  readonly runOutWithinMs: number
  /** Undefined: backups are not watched. */
  readonly backupMaxAgeMs: number | undefined
  /** Called after a look at all accounts. */
  readonly onBalances: (balances: BalanceMetrics) => void
}

/** Rows of refusals are written within a few seconds; looks are 15 s apart. */
const refusedMs = 120_000
const accountsPerPage = 200

/** Looks at channels one time after the other. A gateway publishes within a second what it has loaded. */
export class ChannelWatch {
  readonly #options: WatchOptions
  #missingBefore: ReadonlySet<string> = new Set()

  constructor(options: WatchOptions) {
    this.#options = options
  }

  async look(nowMs: number): Promise<void> {
    const { database } = this.#options
    const nodes = (await listNodes(database)).filter((node) => isRunning(node, nowMs))
    // Without a running gateway nothing is known, and nothing has changed.
    if (nodes.length === 0) return
    const names = new Map(nodes.map(({ id, name }) => [id, name]))
    const states = await listStates(database, names.keys())
    const lines = states.map(({ node, line }) => ({ node: names.get(node) ?? node, line }))
    const offered = await listOfferedModels(database)
    const known = await readConditions(database)
    const missing = this.#findMissing(offered, { names, states }).filter(
      ({ isSecondTime, model }) =>
        isSecondTime || known.has(keyOf({ kind: 'model.no_usable_channel', subject: model })),
    )
    const findings = [
      ...findChannelConditions(lines, missing, known),
      ...findCountConditions(lines.map(({ line }) => line)),
    ]
    const kinds = [...channelKinds, ...countKinds]
    await applyObservation(this.#options, { kinds, findings }, nowMs)
  }

  /** Models without any state of a gateway; two times, because a change of the catalogue takes a moment. */
  #findMissing(
    offered: readonly string[],
    { names, states }: { names: ReadonlyMap<string, string>; states: readonly PublishedState[] },
  ): readonly (MissingModel & { readonly isSecondTime: boolean })[] {
    const published = new Map([...names.keys()].map((id) => [id, new Set<string>()]))
    for (const { node, line } of states) published.get(node)?.add(line.model)
    const found = [...names].flatMap(([id, node]) =>
      offered
        .filter((model) => published.get(id)?.has(model) !== true)
        .map((model) => ({ node, model, place: `${id}\n${model}` })),
    )
    const before = this.#missingBefore
    this.#missingBefore = new Set(found.map(({ place }) => place))
    return found.map(({ node, model, place }) => ({
      node,
      model,
      isSecondTime: before.has(place),
    }))
  }
}

export async function watchAccounts(options: WatchOptions, nowMs: number): Promise<void> {
  const { database, runOutWithinMs, onBalances } = options
  const moment: RuleMoment = { nowMs, today: utcDay(nowMs), runOutWithinMs }
  const findings: Finding[] = []
  const steps: ReachedStep[] = []
  const known = await readConditions(database)
  const sums = new BalanceSums()
  const refusals = await readRefusals(database, nowMs)
  let afterId: string | undefined = ''
  while (afterId !== undefined) {
    const page: Page = await readPage(database, afterId, nowMs)
    const reached: ReachedStep[] = []
    for (const account of page.accounts) {
      const spend = page.spend.get(account.id) ?? []
      const keys = page.keys.get(account.id) ?? []
      const { usage } = page
      const refused = refusals.get(account.id) ?? new Set()
      sums.add(account, spend, moment)
      const conditions = findAccountConditions(
        { account, spend, keys, usage, refused, known },
        moment,
      )
      findings.push(...conditions)
      reached.push(...findLimitSteps(account, { spend, conditions }, moment))
    }
    steps.push(...(await withoutKnown(database, reached)))
    afterId = page.nextId
  }
  await applyObservation(options, { kinds: accountKinds, findings }, nowMs)
  await tellLimitSteps(options, steps, nowMs)
  onBalances(sums.metrics())
}

interface Page {
  readonly accounts: Awaited<ReturnType<typeof listWatchedAccounts>>
  readonly spend: ReadonlyMap<string, Awaited<ReturnType<typeof readSpend>>>
  readonly keys: ReadonlyMap<string, Awaited<ReturnType<typeof listLimitedKeys>>>
  readonly usage: Awaited<ReturnType<typeof readKeyUsage>>
  readonly nextId: string | undefined
}

/** By account: the codes of late refusals, alone and behind the id of their key. */
async function readRefusals(
  database: Database,
  nowMs: number,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const refused = await listRefused(database, { sinceMs: nowMs - refusedMs, codes: usedUpCodes })
  const codes = new Map<string, Set<string>>()
  for (const { accountId, keyId, code } of refused) {
    const known = codes.get(accountId) ?? new Set()
    codes.set(accountId, known.add(code).add(`${keyId} ${code}`))
  }
  return codes
}

async function readPage(database: Database, afterId: string, nowMs: number): Promise<Page> {
  const accounts = await listWatchedAccounts(database, {
    afterId,
    countMax: accountsPerPage,
    month: utcMonth(nowMs),
  })
  const accountIds = accounts.map(({ id }) => id)
  const period = { from: utcDay(nowMs - dayMs), to: utcDay(nowMs) }
  const spend = await readSpend(database, { accountIds, ...period })
  const keys = await listLimitedKeys(database, accountIds)
  return {
    usage: await readKeyUsage(database, { keys, atMs: nowMs }),
    accounts,
    spend: Map.groupBy(spend, ({ accountId }) => accountId),
    keys: Map.groupBy(keys, ({ accountId }) => accountId ?? ''),
    nextId: accounts.length < accountsPerPage ? undefined : accountIds.at(-1),
  }
}

export async function watchBackups(options: WatchOptions, nowMs: number): Promise<void> {
  const { database, backupMaxAgeMs } = options
  const kinds = ['backup.too_old'] as const
  const lastMs =
    backupMaxAgeMs === undefined ? undefined : await findLastAction(database, backupAction)
  const isOld =
    backupMaxAgeMs !== undefined && (lastMs === undefined || nowMs - lastMs > backupMaxAgeMs)
  const findings = isOld ? [backupTooOld(lastMs, nowMs)] : []
  await applyObservation(options, { kinds, findings }, nowMs)
}

function backupTooOld(lastMs: number | undefined, nowMs: number): Finding {
  const hours = lastMs === undefined ? null : Math.round((nowMs - lastMs) / hourMs)
  const age = hours === null ? 'No backup is recorded.' : `The last backup is ${hours} h old.`
  return {
    kind: 'backup.too_old',
    subject: '',
    title: hours === null ? 'There is no backup' : `The last backup is ${hours} h old`,
    text: `${age} Make one.`,
    command: 'turnpike backup FILE',
    facts: { last_backup_at: lastMs === undefined ? null : new Date(lastMs).toISOString(), hours },
  }
}

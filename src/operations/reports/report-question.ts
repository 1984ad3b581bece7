/** What a report is asked: the fields of the question, and what they mean in a store at one moment. */
import { z } from 'zod'
import { dayMs, utcDay, type Clock } from '../../base/clock.ts'
import { sumChecks, type CheckSum } from '../../channels/cluster/operator-cost-store.ts'
import {
  listLargest,
  reportDimensions,
  type KeptValues,
  type ReportDimension,
  type ReportQuestion,
} from '../../ledger/report-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { getAccount } from '../accounts/accounts.ts'
import { accountReference, fromTime, largestCount, untilTime } from '../input.ts'
import { invalidField, type OperationContext } from '../operation.ts'

const defaultDays = 30
const daysMax = 3_660

export const dimensionNames = Object.keys(reportDimensions) as readonly ReportDimension[]
const dimensionForm = `(${dimensionNames.join('|')})`
const byRule = `must be total, or a list of ${dimensionNames.join(', ')} with commas`

const dimensions = z
  .string(byRule)
  .default('day')
  .transform((text, context): readonly ReportDimension[] => {
    const names = text.trim() === 'total' ? [] : text.split(',').map((name) => name.trim())
    const known = dimensionNames.filter((name) => names.includes(name))
    if (known.length === names.length)
      return names.flatMap((name) => known.filter((one) => one === name))
    context.addIssue({ code: 'custom', message: byRule })
    return z.NEVER
  })
  .meta({
    pattern: `^(total|${dimensionForm}(,${dimensionForm}){0,${dimensionNames.length - 1}})$`,
  })

export const reportFields = {
  by: dimensions.describe(`What each line is for: total, or any of ${dimensionNames.join(',')}.`),
  from: fromTime.optional().describe('First day (UTC); 30 days up to today without it.'),
  to: untilTime.optional().describe('Last day (UTC, included); today without it.'),
  account: accountReference.optional().describe('Only this account, by name or id.'),
  key: z.string().min(1, 'must be the id of a key').optional().describe('Only this key, by id.'),
  model: z.string().min(1, 'must be the id of a model').optional().describe('Only this model.'),
  channel: z
    .string()
    .min(1, 'must be the name of a channel')
    .optional()
    .describe('Only this channel.'),
  label: z.string().min(1, 'must be a label').optional().describe('Only this label.'),
  /** All others are added up under an empty value. */
  largest: largestCount
    .optional()
    .describe('Only so many values of the last dimension, the largest; all others as one row.'),
  /** Chooses nothing where `largest` is not given. */
  largest_by: z
    .enum(['revenue', 'requests', 'tokens'])
    .optional()
    .describe('By which figure they are the largest; revenue without it.'),
}

export type ReportInput = z.output<z.ZodObject<typeof reportFields>>

/** A question with what it names in the store. */
export interface OpenReport {
  readonly snapshot: Queryable
  readonly by: readonly ReportDimension[]
  readonly period: Period
  readonly only: ReportQuestion['only']
  readonly kept: KeptValues | undefined
  /** Of the same part of the traffic. */
  readonly checks: readonly CheckSum[]
}

interface Period {
  /** Whole days; from inclusive, until exclusive. */
  readonly fromMs: number
  readonly untilMs: number
}

export async function openReport(
  { clock, snapshot }: Pick<OperationContext, 'clock'> & { readonly snapshot: Queryable },
  input: ReportInput,
): Promise<OpenReport> {
  const period = periodOf(clock, input)
  const only = await filtersOf(snapshot, input)
  const kept = await findKept(snapshot, input, { ...daysOf(period), only })
  const checks = await readChecks(snapshot, only, period)
  return { snapshot, by: input.by, period, only, kept, checks }
}

/** The same question about as many days directly before. */
export async function openBefore(open: OpenReport): Promise<OpenReport> {
  const { fromMs, untilMs } = open.period
  const period = { fromMs: 2 * fromMs - untilMs, untilMs: fromMs }
  return { ...open, period, checks: await readChecks(open.snapshot, open.only, period) }
}

export function daysOf({ fromMs, untilMs }: Period) {
  return { fromDay: utcDay(fromMs), toDay: utcDay(untilMs) }
}

/** Checks belong to no account and no key, and have no label. */
async function readChecks(
  snapshot: Queryable,
  { account, key, label, model, channel }: ReportQuestion['only'],
  period: Period,
): Promise<readonly CheckSum[]> {
  if (account !== undefined || key !== undefined || label !== undefined) return []
  const checks = await sumChecks(snapshot, period)
  return checks.filter(
    (check) =>
      (model === undefined || check.model === model) &&
      (channel === undefined || check.channel === channel),
  )
}

function periodOf(clock: Clock, { from, to }: ReportInput): Period {
  const todayMs = Math.floor(clock.now() / dayMs) * dayMs
  const untilMs = to ?? todayMs + dayMs
  const fromMs = from ?? untilMs - defaultDays * dayMs
  if (fromMs % dayMs !== 0) throw invalidField('from', 'must be a whole day (UTC)')
  if (untilMs % dayMs !== 0) throw invalidField('to', 'must be a whole day (UTC)')
  if (fromMs >= untilMs) throw invalidField('to', 'must not be before from')
  if (untilMs - fromMs > daysMax * dayMs)
    throw invalidField('from', `must be at most ${daysMax} days before to`)
  return { fromMs, untilMs }
}

async function filtersOf(snapshot: Queryable, { account, key, model, channel }: ReportInput) {
  const found = account === undefined ? undefined : await getAccount(snapshot, account)
  return {
    ...(found !== undefined && { account: found.id }),
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model }),
    ...(channel !== undefined && { channel }),
  }
}

async function findKept(
  snapshot: Queryable,
  { by, largest, largest_by: rank }: ReportInput,
  rows: Pick<ReportQuestion, 'fromDay' | 'toDay' | 'only'>,
): Promise<KeptValues | undefined> {
  if (largest === undefined) return undefined
  const dimension = by.at(-1)
  if (dimension === undefined) throw invalidField('largest', 'must come with a key in by')
  const values = await listLargest(snapshot, {
    ...rows,
    dimension,
    rank: rank ?? 'revenue',
    countMax: largest,
  })
  return { dimension, values }
}

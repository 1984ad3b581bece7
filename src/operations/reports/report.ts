/**
 * Reports: requests, tokens, revenue, own cost, margin and times by day, account, key, model, channel and
 * label. Every sum comes from table report_day, written with each charge, so a report adds up to the ledger
 * exactly, also for days whose requests are no longer kept. The gateway's own checks belong to no account.
 */
import { z } from 'zod'
import { readKeyNames } from '../../access/key-store.ts'
import { readAccountNames, sortOrders } from '../../ledger/account-store.ts'
import type { ReportDimension } from '../../ledger/report-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { pageForm, type Answer } from '../answer-forms.ts'
import { operation } from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import { sumFields, sumsForm, viewSums, type ReportFigure } from './report-figures.ts'
import {
  rankedKey,
  readBefore,
  readKeyCursor,
  readLines,
  readRanked,
  type Line,
  type Names,
  type Ranking,
} from './report-lines.ts'
import { dimensionNames, openReport, reportFields } from './report-question.ts'

const grouped = z.string().nullable().meta({ description: 'Null where the report is not by it.' })

const groupFields = {
  day: grouped,
  /** Empty for the gateway's own checks. */
  account_id: grouped,
  account: grouped,
  key_id: grouped,
  key: grouped,
  model: grouped,
  /** Empty where no channel answered. */
  channel: grouped,
  /** Empty without a label. */
  label: grouped,
}

const rowForm = z.strictObject({
  ...groupFields,
  ...sumFields,
  before: sumsForm.nullable().optional().meta({
    description:
      'With `compare`: the same figures of the period before; null where there were none.',
  }),
})

export type ReportRow = Answer<typeof rowForm>

const figureNames = Object.keys(sumFields) as readonly ReportFigure[]

const pagedInput = z.strictObject({
  ...reportFields,
  ...pageFields,
  sort: z
    .enum([...figureNames, ...dimensionNames])
    .optional()
    .describe('A figure or a key by which the whole report is sorted; by its keys without it.'),
  order: z
    .enum(sortOrders)
    .optional()
    .describe('Direction of `sort`; without it desc by a figure, asc by a key.'),
  compare: z
    .enum(['before'])
    .optional()
    .describe('Adds to each row its figures of as many days directly before.'),
  /** `csv` is the whole report; see report-text.ts. */
  format: z.enum(['json', 'csv']).default('json'),
})

export const readReport = operation(
  { input: pagedInput, answer: pageForm(rowForm) },
  ({ clock, database }, { cursor, limit, sort, order, compare, ...question }) =>
    database.snapshot(async (snapshot) => {
      const open = await openReport({ clock, snapshot }, question)
      const { by } = open
      const ranking = rankingOf(by, sort, order)
      const lines =
        ranking === undefined
          ? await readLines(open, { after: readKeyCursor(cursor, by), countMax: limit + 1 })
          : await readRanked(open, ranking, { cursor, limit }, (all) =>
              readNames(snapshot, by, all),
            )
      const shown = lines.slice(0, limit)
      const before = compare === undefined ? undefined : await readBefore(open, shown)
      const names = await readNames(snapshot, by, shown)
      const rows = lines.map((line, index) => ({ line, earlier: before?.[index] }))
      return pageOf(rows, {
        limit,
        cursorOf: ({ line }) =>
          ranking === undefined ? JSON.stringify(line.key) : rankedKey(ranking, line),
        view: ({ line, earlier }) => ({
          ...viewLine(line, by, names),
          ...(before !== undefined && {
            before: earlier === undefined ? null : viewSums(earlier.sums, earlier.checks),
          }),
        }),
      })
    }),
)

/** Undefined = in the order of the keys. */
function rankingOf(
  by: readonly ReportDimension[],
  sort: Ranking['sort'] | undefined,
  order: Ranking['order'] | undefined,
): Ranking | undefined {
  if (sort === undefined || by.length === 0) return undefined
  const isKey = dimensionNames.some((name) => name === sort)
  return { sort, order: order ?? (isKey ? 'asc' : 'desc') }
}

export async function readNames(
  snapshot: Queryable,
  by: readonly ReportDimension[],
  lines: readonly Line[],
): Promise<Names> {
  const rangeOf = (dimension: ReportDimension) => {
    const index = by.indexOf(dimension)
    const ids = lines.map(({ key }) => key[index] ?? '').filter((id) => id !== '')
    const [first, ...others] = ids.sort()
    return index < 0 || first === undefined ? undefined : { first, last: others.at(-1) ?? first }
  }
  const accounts = rangeOf('account')
  const keys = rangeOf('key')
  return {
    accounts: accounts === undefined ? new Map() : await readAccountNames(snapshot, accounts),
    keys: keys === undefined ? new Map() : await readKeyNames(snapshot, keys),
  }
}

export function viewLine(
  { key, sums, checks }: Line,
  by: readonly ReportDimension[],
  { accounts, keys }: Names,
): ReportRow {
  const dimension = (name: ReportDimension): string | null => key[by.indexOf(name)] ?? null
  const accountId = dimension('account')
  const keyId = dimension('key')
  return {
    day: dimension('day'),
    account_id: accountId,
    account: accountId === null ? null : (accounts.get(accountId) ?? ''),
    key_id: keyId,
    key: keyId === null ? null : (keys.get(keyId) ?? ''),
    model: dimension('model'),
    channel: dimension('channel'),
    label: dimension('label'),
    ...viewSums(sums, checks),
  }
}

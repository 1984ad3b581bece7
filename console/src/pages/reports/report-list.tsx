/** The rows of a report as a list: a column for each key, and the figures. The gateway sorts all of them. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { nameFilter } from '../../api/names.ts'
import { t } from '../../messages/t.ts'
import { formatDay } from '../../ui/format.ts'
import type { ListColumn, ListDefinition, ListFilter } from '../../ui/list/define.ts'
import type { ColumnChoice } from '../../ui/list/remembered.ts'
import { Empty } from '../../ui/states.tsx'
import type { Key } from './address.ts'
import { FigureCell, figureColumns, type FigureColumn } from './figures.tsx'
import { partName, partOf, type PartKey, type Question, type ReportRow } from './queries.ts'
import { AccountLink, ChannelLink } from '../links.tsx'

export const filters: readonly ListFilter<PartKey>[] = [
  nameFilter('model', t('reports.keys.model')),
  nameFilter('channel', t('reports.keys.channel')),
  nameFilter('account', t('reports.keys.account')),
  {
    kind: 'suggest',
    name: 'key',
    label: t('reports.keys.key'),
    placeholder: t('reports.idOfKey'),
    suggestions: [],
  },
  { kind: 'suggest', name: 'label', label: t('reports.keys.label'), suggestions: [] },
]

/** The list of a report by these keys; its rows lead to their requests in the same period and filter. */
export function reportList(
  keys: readonly Key[],
  question: Question,
): ListDefinition<ReportRow, PartKey> {
  return {
    name: 'reports',
    caption: t('reports.table'),
    rowKey: (row) => keys.map((key) => keyOf(row, key)).join(' ') || 'total',
    columns: [
      ...keys.map(keyColumn),
      ...figureColumns.map((column) => figureColumn(column, question)),
    ],
    empty: <Empty title={t('reports.noRequest')}>{t('reports.noRequestAdvice')}</Empty>,
  }
}

/** The words of the shown columns as a choice, and back. */
export function choiceOf(columns: string | undefined): ColumnChoice {
  const chosen = columns?.split(',')
  return Object.fromEntries(
    figureColumns.map(({ word, isUsual = false }) => [word, chosen?.includes(word) ?? isUsual]),
  )
}

export function wordsOf(choice: ColumnChoice): string | undefined {
  if (Object.keys(choice).length === 0) return undefined
  const words = figureColumns.map(({ word }) => word).filter((word) => choice[word] === true)
  return words.join(',')
}

function keyOf(row: ReportRow, key: Key): string {
  return key === 'day' ? (row.day ?? '') : partOf(row, key)
}

function keyColumn(key: Key, index: number): ListColumn<ReportRow> {
  return {
    id: key,
    name: t(`reports.keys.${key}`),
    sort: key,
    ...(index === 0 && { place: 'name' }),
    ...(index === 1 && { place: 'note' }),
    cell: (row) =>
      isSum(row) ? index === 0 && t('reports.total') : <KeyCell row={row} of={key} />,
  }
}

/** Only the row of the sums has none of its keys. */
function isSum({ day, account, key, model, channel, label }: ReportRow): boolean {
  return [day, account, key, model, channel, label].every((value) => value === null)
}

function KeyCell({ row, of: key }: { row: ReportRow; of: Key }) {
  if (key === 'day') return formatDay(row.day ?? '')
  const id = partOf(row, key)
  if (id === '') return <span className="soft">{emptyWord(key)}</span>
  if (key === 'account') return <AccountLink id={id}>{partName(row, key)}</AccountLink>
  if (key === 'channel') return <ChannelLink name={id} />
  return <span data-tip={id}>{partName(row, key)}</span>
}

function emptyWord(key: Key): string {
  if (key === 'channel') return t('reports.noChannel')
  return key === 'label' ? t('reports.noLabel') : t('reports.ownChecks')
}

/** The number of requests leads to them. */
function figureColumn(column: FigureColumn, question: Question): ListColumn<ReportRow> {
  const { word, name, isUsual = false } = column
  const cell = (row: ReportRow): ReactNode => <FigureCell row={row} column={column} />
  return {
    id: word,
    name,
    isNumber: true,
    sort: word,
    isExtra: !isUsual,
    ...(word === 'revenue_usd' && { place: 'amount' }),
    ...(word === 'requests' && { place: 'state' }),
    cell: (row) =>
      word === 'requests' ? (
        <RequestsLink row={row} question={question}>
          {cell(row)}
        </RequestsLink>
      ) : (
        cell(row)
      ),
  }
}

interface RequestsLinkProps {
  readonly row: ReportRow
  readonly question: Question
  readonly children: ReactNode
}

function RequestsLink({ row, question, children }: RequestsLinkProps) {
  const { day, account_id: account, key_id: key, model, channel, label } = row
  // Checks are no requests of accounts. No filter finds requests without a channel or label, or all others.
  const isUnfiltered = channel === '' || label === '' || label === 'other'
  if (row.requests === 0 || account === '' || isUnfiltered) return children
  const search = {
    ...question,
    ...(day !== null && { from: day, to: day }),
    ...(account !== null && { account }),
    ...(key !== null && { key }),
    ...(model !== null && { model }),
    ...(channel !== null && { channel }),
    ...(label !== null && { label }),
  }
  return (
    <Link to="/requests" search={search}>
      {children}
      <span className="visually-hidden"> {t('reports.showRequests')}</span>
    </Link>
  )
}

/** The sums of a period: the money by model, the counts of both sides, and what limits the comparison. */
import type { ReactNode } from 'react'
import { t } from '../../messages/t.ts'
import { Notice } from '../../ui/card.tsx'
import { formatInteger } from '../../ui/format.ts'
import { defineList, type ListColumn } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import { Empty } from '../../ui/states.tsx'
import { Count, Time, Usd } from '../../ui/values.tsx'
import type { Reconciliation } from './queries.ts'

type Model = Reconciliation['models'][number]
type CountRow = Model['counts'][number] & { readonly model: string }

export function Sums({ result, actions }: { result: Reconciliation; actions: ReactNode }) {
  const { models } = result
  const counts = models.flatMap((row) =>
    row.counts.map((count) => ({ ...count, model: nameOf(row) })),
  )
  return (
    <>
      <Remarks result={result} />
      <List
        of={modelList}
        list={{ rows: models }}
        title={<Result result={result} />}
        hint={t('reconciliation.expectedHint')}
        actions={actions}
        file="reconciliation-models"
      />
      {counts.length > 0 && (
        <List
          of={countList}
          list={{ rows: counts }}
          title={t('reconciliation.counts')}
          hint={t('reconciliation.countsHint')}
          file="reconciliation-counts"
        />
      )}
    </>
  )
}

function Result({ result }: { result: Reconciliation }) {
  const { vendor_usd: billed, expected_usd: expected, difference_usd: difference } = result
  return billed === null
    ? t.rich('reconciliation.expectedOnly', { own: () => <Usd value={expected} /> })
    : t.rich('reconciliation.verdict', {
        bill: () => <Usd value={billed} />,
        own: () => <Usd value={expected} />,
        rest: () => <Usd value={difference} />,
      })
}

function nameOf({ model }: Model): string {
  return model ?? t('reconciliation.noModel')
}

const modelList = defineList<Model>({
  name: 'reconciled-models',
  caption: t('reconciliation.models'),
  rowKey: nameOf,
  columns: [
    {
      id: 'model',
      name: t('reconciliation.model'),
      value: nameOf,
      cell: (row) => (
        <>
          <strong className="break">{nameOf(row)}</strong>
          {row.vendor_models.length > 0 && row.vendor_models.join(' + ') !== row.model && (
            <div className="soft break">
              {t('reconciliation.atVendor', { names: row.vendor_models.join(', ') })}
            </div>
          )}
        </>
      ),
    },
    usdColumn('charged', 'charged_usd'),
    usdColumn('bills', 'vendor_usd'),
    usdColumn('expected', 'expected_usd'),
    { ...usdColumn('difference', 'difference_usd', true), place: 'amount' },
  ],
  empty: <Empty title={t('reconciliation.none')}>{t('reconciliation.noneHint')}</Empty>,
})

function usdColumn(
  id: 'charged' | 'bills' | 'expected' | 'difference',
  field: 'charged_usd' | 'vendor_usd' | 'expected_usd' | 'difference_usd',
  signed = false,
): ListColumn<Model> {
  return {
    id,
    name: t(`reconciliation.${id}`),
    isNumber: true,
    value: ({ [field]: usd }) => usd,
    cell: ({ [field]: usd }) => <Usd value={usd} signed={signed} />,
  }
}

const countList = defineList<CountRow>({
  name: 'reconciled-counts',
  caption: t('reconciliation.counts'),
  rowKey: ({ model, figure }) => `${model} ${figure}`,
  columns: [
    {
      id: 'model',
      name: t('reconciliation.model'),
      value: ({ model }) => model,
      cell: ({ model }) => model,
    },
    {
      id: 'figure',
      name: t('reconciliation.figure'),
      value: ({ figure }) => figure,
      cell: ({ figure }) => figure.replaceAll('_', ' '),
    },
    {
      id: 'vendor',
      name: t('reconciliation.vendor'),
      isNumber: true,
      value: ({ vendor }) => vendor,
      cell: ({ vendor }) => <Count value={vendor} />,
    },
    {
      id: 'expected',
      name: t('reconciliation.expected'),
      isNumber: true,
      value: ({ expected }) => expected,
      cell: ({ expected }) => <Count value={expected} />,
    },
    {
      id: 'difference',
      name: t('reconciliation.difference'),
      isNumber: true,
      place: 'amount',
      value: differenceOf,
      cell: (row) => <Difference value={differenceOf(row)} />,
    },
  ],
  empty: null,
})

function differenceOf({ vendor, expected }: CountRow): number | null {
  return vendor === null ? null : vendor - expected
}

function Difference({ value }: { value: number | null }) {
  if (value === null || value === 0) return <Count value={value} />
  return (
    <strong>
      {value > 0 ? '+' : '−'}
      {formatInteger(Math.abs(value))}
    </strong>
  )
}

function Remarks({ result }: { result: Reconciliation }) {
  const { explained_from: explainedFrom, unclean_stops: stops, fields_not_compared: left } = result
  const { rows_outside_period: count } = result
  return (
    <>
      {explainedFrom !== null && (
        <Notice tone="warn">
          {t.rich('reconciliation.deleted', { time: () => <Time at={explainedFrom} /> })}
        </Notice>
      )}
      {stops.length > 0 && (
        <Notice tone="warn">
          {t('reconciliation.stopped')}
          <ul className="marked">
            {stops.map(({ node, from, to }) => (
              <li key={`${node} ${from}`}>
                {node}: <Time at={from} /> – {to !== null && <Time at={to} />}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {result.has_more_pages && <Notice tone="warn">{t('reconciliation.morePages')}</Notice>}
      {count > 0 && <Notice>{t('reconciliation.otherDays', { count })}</Notice>}
      {left.length > 0 && (
        <Notice>{t('reconciliation.notCompared', { names: left.join(', ') })}</Notice>
      )}
    </>
  )
}

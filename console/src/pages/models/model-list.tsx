/** The models with the prices in force, and requests, spend and margin of the last 30 days. */
import { useQueries } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { ReportRow } from '../../api/reports.ts'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Badge } from '../../ui/card.tsx'
import { formatCount, formatShare } from '../../ui/format.ts'
import { useListAddress } from '../../ui/list/address.ts'
import { defineList, type ListColumn } from '../../ui/list/define.ts'
import { Filters } from '../../ui/list/filters.tsx'
import { List } from '../../ui/list/list.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Empty } from '../../ui/states.tsx'
import { Count, Missing, Usd } from '../../ui/values.tsx'
import { otherLines } from '../entries/amounts.ts'
import { EntryButton, EntryDialog, type AskedForm } from '../entries/entry-dialog.tsx'
import { priceColumns } from './price-list.tsx'
import { figuresQuery, modelsQuery, pricesQuery, type Model, type PriceVersion } from './queries.ts'

interface Row {
  readonly model: Model
  /** In force; absent: the model is not served. */
  readonly price: PriceVersion['price'] | undefined
  /** There is a later version. */
  readonly isChanging: boolean
  readonly figures: ReportRow | undefined
}

function rowsOf(
  models: readonly Model[],
  prices: readonly PriceVersion[],
  figures: readonly ReportRow[],
): readonly Row[] {
  const byModel = new Map(figures.map((row) => [row.model, row]))
  return models.map((model) => {
    const own = prices.filter((version) => version.model === model.id)
    return {
      model,
      price: own.find(({ state }) => state === 'in_force')?.price,
      isChanging: own.some(({ state }) => state === 'later'),
      figures: byModel.get(model.id),
    }
  })
}

/** The known margin as a part of the revenue that it comes from. */
function marginShareOf(figures: ReportRow | undefined): number | null {
  if (figures === undefined) return null
  const { revenue_usd: all, refunded_usd: refunded, unknown_cost_revenue_usd: unknown } = figures
  const revenue = Number(all) - Number(refunded) - Number(unknown)
  return revenue > 0 ? Number(figures.known_margin_usd) / revenue : null
}

const usual = { by: 'spend', order: 'desc' } as const

export function ModelList() {
  const search = useSearch({ from: '/shell/models' })
  const { change, list: address } = useListAddress(search, usual)
  const mayChange = useMay('owner')
  const [models, prices, figures] = useQueries({
    queries: [modelsQuery, pricesQuery, figuresQuery],
  })
  const failed = [models, prices, figures].find(({ error }) => error !== null)
  const rows = models.data && prices.data && rowsOf(models.data, prices.data, figures.data ?? [])
  const { name = '', vendor = '' } = search
  const vendors = [...new Set(models.data?.map((model) => model.vendor))].sort()
  const found = rows?.filter(
    ({ model }) =>
      model.id.toLowerCase().includes(name.toLowerCase()) &&
      (vendor === '' || model.vendor === vendor),
  )
  return (
    <>
      <Filters
        filters={[
          { kind: 'text', name: 'name', label: t('models.list.model') },
          {
            kind: 'choice',
            name: 'vendor',
            label: t('models.list.vendor'),
            any: t('models.list.allVendors'),
            options: vendors.map((one) => [one, one] as const),
          },
        ]}
        values={search}
        onChange={change}
      />
      <List
        of={mayChange ? { ...modelList, columns: [...columns, actions] } : modelList}
        list={{ rows: found, error: failed?.error, retry: () => void failed?.refetch() }}
        isFiltered={name !== '' || vendor !== ''}
        {...address}
        hint={t('models.list.hint')}
        csv="/admin/v1/models?format=csv"
        actions={
          <EntryButton look="primary" asked={{ kind: 'new model' }}>
            <Plus aria-hidden /> {t('entries.model.new')}
          </EntryButton>
        }
      />
    </>
  )
}

type Word = 'channels' | 'requests' | 'spend' | 'margin' | 'share'

/** A column of numbers that sorts by its own name. */
function numbers(
  id: Word,
  { value, cell }: Required<Pick<ListColumn<Row>, 'value' | 'cell'>>,
): ListColumn<Row> {
  return { id, name: t(`models.list.${id}`), sort: id, isNumber: true, value, cell }
}

/** The page of the model has all of its prices. */
const rooms: Readonly<Record<string, Pick<ListColumn<Row>, 'room'>>> = {
  cache_write_5m: { room: 'wide' },
  cache_write_1h: { room: 'widest' },
}

const columns: readonly ListColumn<Row>[] = [
  {
    id: 'model',
    name: t('models.list.model'),
    sort: 'model',
    place: 'name',
    value: ({ model }) => model.id,
    cell: ModelName,
  },
  ...priceColumns(({ price }: Row) => price).map((column) => ({ ...column, ...rooms[column.id] })),
  {
    id: 'limits',
    name: t('models.list.limits'),
    isNumber: true,
    room: 'wide',
    cell: Limits,
  },
  numbers('channels', {
    value: ({ model }) => model.channels.length,
    cell: ({ model: { channels } }) => (
      <span data-tip={channels.join(', ')}>{channels.length}</span>
    ),
  }),
  numbers('requests', {
    value: ({ figures }) => figures?.requests ?? 0,
    cell: ({ figures }) => <Count value={figures?.requests ?? 0} />,
  }),
  {
    ...numbers('spend', {
      value: ({ figures }) => Number(figures?.revenue_usd ?? 0),
      cell: ({ figures }) => <Usd value={figures?.revenue_usd ?? '0'} />,
    }),
    place: 'amount',
  },
  numbers('margin', {
    value: ({ figures }) => (figures === undefined ? null : Number(figures.known_margin_usd)),
    cell: ({ figures }) => <Usd value={figures?.known_margin_usd ?? '0'} />,
  }),
  numbers('share', {
    value: ({ figures }) => marginShareOf(figures),
    cell({ figures }) {
      const share = marginShareOf(figures)
      if (share === null) return <Missing why={t('models.list.noRevenue')} />
      return <span className={share < 0 ? 'bad' : ''}>{formatShare(share)}</span>
    },
  }),
]

const modelList = defineList<Row>({
  name: 'models',
  caption: t('models.list.caption'),
  rowKey: ({ model }) => model.id,
  rowTone({ model, price, figures }) {
    if (Number(figures?.known_margin_usd ?? 0) < 0) return 'bad'
    return price === undefined || model.channels.length === 0 ? 'warn' : undefined
  },
  columns,
  empty: <Empty title={t('models.list.none')}>{t('models.list.noneHint')}</Empty>,
  emptyFiltered: <Empty title={t('models.list.noneSo')}>{t('models.list.noneSoHint')}</Empty>,
})

const actions: ListColumn<Row> = {
  id: 'actions',
  name: t('models.list.actions'),
  isNumber: true,
  cell: ({ model }) => <ModelActions {...model} />,
}

function ModelActions({ id, vendor }: Model) {
  const [asked, setAsked] = useState<AskedForm>()
  const item = (text: string, form: AskedForm) => ({ text, onSelect: () => setAsked(form) })
  return (
    <>
      <Menu
        label={t('models.list.actionsFor', { model: id })}
        items={[
          item(t('models.price.change'), { kind: 'price', model: id }),
          item(t('models.list.edit'), { kind: 'edit', section: 'models', name: id }),
          item(t('models.list.editVendor', { vendor }), {
            kind: 'edit',
            section: 'vendors',
            name: vendor,
          }),
        ]}
      />
      {asked !== undefined && <EntryDialog asked={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

function ModelName({ model, price, isChanging }: Row) {
  const others = otherLines(price ?? {})
  return (
    <div>
      <Link to="/models" search={{ tab: 'prices', model: model.id }}>
        {model.id}
      </Link>
      <div className="row small">
        <span className="soft">{model.vendor}</span>
        {price === undefined && <Badge tone="warn">{t('models.list.noPrice')}</Badge>}
        {model.channels.length === 0 && <Badge tone="warn">{t('models.list.noChannel')}</Badge>}
        {isChanging && <Badge tone="accent">{t('models.list.newPriceLater')}</Badge>}
        {others.length > 0 && (
          <span
            className="badge"
            data-tone="neutral"
            data-tip={others.map(([field, text]) => `${field} ${text}`).join(', ')}
          >
            {t('models.list.morePrices')}
          </span>
        )}
      </div>
    </div>
  )
}

function Limits({ model }: Row) {
  const limits = [
    ['in', model.max_input_tokens],
    ['out', model.max_output_tokens],
    ['image', model.image_tokens],
  ] as const
  if (limits.every(([, tokens]) => tokens === null))
    return <Missing why={t('models.list.noLimit')} />
  return limits.map(
    ([name, tokens]) =>
      tokens !== null && (
        <div key={name} data-tip={t('models.list.tokens', { count: tokens })}>
          {t('models.list.limit', { of: name, count: formatCount(tokens) })}
        </div>
      ),
  )
}

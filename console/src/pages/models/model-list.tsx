/** The models with the prices in force, and requests, spend and margin of the last 30 days. */
import { useQueries } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Badge } from '../../ui/card.tsx'
import { formatCount, formatShare } from '../../ui/format.ts'
import { useListAddress } from '../../ui/list/address.ts'
import { defineList, type ListColumn } from '../../ui/list/define.ts'
import { Filters } from '../../ui/list/filters.tsx'
import { List } from '../../ui/list/list.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Empty } from '../../ui/states.tsx'
import { Count, Missing, Usd } from '../../ui/values.tsx'
import { decimalOf, otherLines } from '../entries/amounts.ts'
import { EntryDialog, type AskedForm } from '../entries/entry-dialog.tsx'
import { ChangePrice } from './change-price.tsx'
import { ClassPrice } from './price-list.tsx'
import {
  figuresQuery,
  modelsQuery,
  pricesQuery,
  type Model,
  type ModelFigures,
  type PriceVersion,
} from './queries.ts'

interface Row {
  readonly model: Model
  /** In force; absent: the model is not served. */
  readonly price: PriceVersion['price'] | undefined
  /** There is a later version. */
  readonly isChanging: boolean
  readonly figures: ModelFigures | undefined
  readonly marginShare: number | undefined
}

function rowsOf(
  models: readonly Model[],
  prices: readonly PriceVersion[],
  figures: readonly ModelFigures[],
): readonly Row[] {
  const byModel = new Map(figures.map((row) => [row.model, row]))
  return models.map((model) => {
    const own = prices.filter((version) => version.model === model.id)
    const found = byModel.get(model.id)
    return {
      model,
      price: own.find(({ state }) => state === 'in_force')?.price,
      isChanging: own.some(({ state }) => state === 'later'),
      figures: found,
      marginShare: found && marginShareOf(found),
    }
  })
}

/** The known margin as a part of the revenue that it comes from. */
function marginShareOf(row: ModelFigures): number | undefined {
  const revenue =
    Number(row.revenue_usd) - Number(row.refunded_usd) - Number(row.unknown_cost_revenue_usd)
  return revenue > 0 ? Number(row.known_margin_usd) / revenue : undefined
}

const usual = { by: 'spend', order: 'desc' } as const

export function ModelList() {
  const search = useSearch({ from: '/shell/models' })
  const { change, list: address } = useListAddress(search, usual)
  const mayChange = useMay('owner')
  const [changed, setChanged] = useState<string>()
  const [asked, setAsked] = useState<AskedForm>()
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
        of={
          mayChange
            ? { ...modelList, columns: [...columns, actions(setChanged, setAsked)] }
            : modelList
        }
        list={{
          rows: found,
          error: failed?.error,
          retry: () => void failed?.refetch(),
        }}
        isFiltered={name !== '' || vendor !== ''}
        {...address}
        hint={t('models.list.hint')}
        csv="/admin/v1/models?format=csv"
        actions={
          mayChange && (
            <Button look="primary" onClick={() => setAsked({ kind: 'new model' })}>
              <Plus aria-hidden /> {t('entries.model.new')}
            </Button>
          )
        }
      />
      {changed !== undefined && (
        <ChangePrice model={changed} onClose={() => setChanged(undefined)} />
      )}
      {asked !== undefined && <EntryDialog asked={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

type Word = 'input' | 'output' | 'channels' | 'requests' | 'spend' | 'margin' | 'share'

/** A column of numbers that sorts by its own name. */
function numbers(
  id: Word,
  { value, cell }: Required<Pick<ListColumn<Row>, 'value' | 'cell'>>,
): ListColumn<Row> {
  return { id, name: t(`models.list.${id}`), sort: id, isNumber: true, value, cell }
}

function ofClass(name: 'input' | 'output'): ListColumn<Row> {
  return numbers(name, {
    value: ({ price }) => numberOrNull(decimalOf(price, name)),
    cell: ({ price }) => <ClassPrice price={price} name={name} />,
  })
}

const columns: readonly ListColumn<Row>[] = [
  {
    id: 'model',
    name: t('models.list.model'),
    sort: 'model',
    place: 'name',
    value: ({ model }) => model.id,
    cell: (row) => <ModelName row={row} />,
  },
  ofClass('input'),
  ofClass('output'),
  {
    id: 'cache_read',
    name: t('models.list.cacheRead'),
    isNumber: true,
    cell: ({ price }) => <ClassPrice price={price} name="cache_read" />,
  },
  {
    id: 'cache_write',
    name: t('models.list.cacheWrite'),
    isNumber: true,
    room: 'wide',
    cell: ({ price }) => <CacheWrite price={price} />,
  },
  {
    id: 'limits',
    name: t('models.list.limits'),
    isNumber: true,
    room: 'wide',
    cell: ({ model }) => <Limits model={model} />,
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
    value: ({ figures }) => numberOrNull(figures?.known_margin_usd),
    cell: ({ figures }) => <Usd value={figures?.known_margin_usd ?? '0'} />,
  }),
  numbers('share', {
    value: ({ marginShare }) => marginShare ?? null,
    cell: ({ marginShare: share }) =>
      share === undefined ? (
        <Missing why={t('models.list.noRevenue')} />
      ) : (
        <span className={share < 0 ? 'bad' : ''}>{formatShare(share)}</span>
      ),
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

function numberOrNull(text: string | undefined): number | null {
  return text === undefined ? null : Number(text)
}

function actions(
  onPrice: (model: string) => void,
  onEdit: (asked: AskedForm) => void,
): ListColumn<Row> {
  return {
    id: 'actions',
    name: t('models.list.actions'),
    isNumber: true,
    cell: ({ model: { id, vendor } }) => (
      <Menu
        label={t('models.list.actionsFor', { model: id })}
        items={[
          { text: t('models.price.change'), onSelect: () => onPrice(id) },
          {
            text: t('models.list.edit'),
            onSelect: () => onEdit({ kind: 'edit', section: 'models', name: id }),
          },
          {
            text: t('models.list.editVendor', { vendor }),
            onSelect: () => onEdit({ kind: 'edit', section: 'vendors', name: vendor }),
          },
        ]}
      />
    ),
  }
}

function ModelName({ row: { model, price, isChanging } }: { row: Row }) {
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

function CacheWrite({ price }: Pick<Row, 'price'>) {
  if (decimalOf(price, 'cache_write_1h') === undefined)
    return <ClassPrice price={price} name="cache_write_5m" />
  return (
    <>
      <div>
        <ClassPrice price={price} name="cache_write_5m" unit={t('models.list.minutes')} />
      </div>
      <ClassPrice price={price} name="cache_write_1h" unit={t('models.list.hour')} />
    </>
  )
}

function Limits({ model }: { model: Model }) {
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

/** The models with the prices in force, and requests, spend and margin of the last 30 days. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card } from '../../ui/card.tsx'
import { Menu } from '../../ui/menu.tsx'
import { SelectField } from '../../ui/field.tsx'
import { formatCount, formatShare } from '../../ui/format.ts'
import { SearchField } from '../../ui/search-field.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { ExportButton, sortRows, Table, type Column } from '../../ui/table.tsx'
import { Count, Missing, Usd } from '../../ui/values.tsx'
import { EntryDialog, type AskedForm } from '../entries/entry-dialog.tsx'
import { sortWords } from './address.ts'
import { ChangePrice } from './change-price.tsx'
import { ClassPrice } from './class-price.tsx'
import { decimalOf, otherLines } from './price.ts'
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
  /** The next version, if there is one. */
  readonly later: PriceVersion | undefined
  readonly figures: ModelFigures | undefined
  readonly marginShare: number | undefined
}

export function ModelList() {
  const models = useQuery(modelsQuery)
  const prices = useQuery(pricesQuery)
  const figures = useQuery(figuresQuery)
  const failed = [models, prices, figures].find(({ error }) => error !== null)
  if (failed !== undefined)
    return <Failure error={failed.error} onRetry={() => void failed.refetch()} />
  if (models.data === undefined || prices.data === undefined) return <Loading rows={8} />
  const rows = rowsOf(models.data, prices.data, figures.data ?? [])
  return <ModelTable rows={rows} />
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
      later: own.find(({ state }) => state === 'later'),
      figures: found,
      marginShare: found === undefined ? undefined : marginShareOf(found),
    }
  })
}

/** The known margin as a part of the revenue that it comes from. */
function marginShareOf(row: ModelFigures): number | undefined {
  const revenue =
    Number(row.revenue_usd) - Number(row.refunded_usd) - Number(row.unknown_cost_revenue_usd)
  return revenue > 0 ? Number(row.known_margin_usd) / revenue : undefined
}

function ModelTable({ rows }: { rows: readonly Row[] }) {
  const search = useSearch({ from: '/shell/models' })
  const navigate = useNavigate({ from: '/models' })
  const mayChange = useMay('owner')
  const [changed, setChanged] = useState<string>()
  const [asked, setAsked] = useState<AskedForm>()
  const { name = '', vendor = '', sort = 'spend', order = 'desc' } = search
  const vendors = [...new Set(rows.map(({ model }) => model.vendor))].sort()
  const found = rows.filter(
    ({ model }) =>
      model.id.toLowerCase().includes(name.toLowerCase()) &&
      (vendor === '' || model.vendor === vendor),
  )
  const sorted = sortRows(found, { by: sort, order }, sortValue)
  const columns = mayChange
    ? [...listColumns, actionsColumn({ onPrice: setChanged, onEdit: setAsked })]
    : listColumns
  const setSearch = (change: Partial<typeof search>): void => {
    void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
  }
  return (
    <>
      <div className="filters">
        <SearchField label="Model" value={name} onChange={(text) => setSearch({ name: text })} />
        <SelectField
          label="Vendor"
          value={vendor}
          options={[['', 'All vendors'], ...vendors.map((each) => [each, each] as const)]}
          onChange={(chosen) => setSearch({ vendor: chosen })}
        />
        <ExportButton fileName="models" columns={listColumns} readRows={() => sorted} />
      </div>
      <Card
        title="Models"
        hint="Prices in force; requests, spend and margin of the last 30 days"
        isFlush
        actions={
          mayChange && (
            <Button look="primary" onClick={() => setAsked({ kind: 'new model' })}>
              <Plus aria-hidden /> New model
            </Button>
          )
        }
      >
        {sorted.length === 0 ? (
          <Empty title={rows.length === 0 ? 'There is no model yet.' : 'No model is so named.'}>
            {rows.length === 0
              ? 'Make a channel with its models, or write the catalogue file.'
              : 'Change the filters above.'}
          </Empty>
        ) : (
          <Table
            caption="Models"
            columns={columns}
            rows={sorted}
            rowKey={({ model }) => model.id}
            rowTone={toneOf}
            sort={{ by: sort, order }}
            onSort={({ by, order: next }) => {
              const word = sortWords.find((each) => each === by)
              if (word !== undefined) setSearch({ sort: word, order: next })
            }}
          />
        )}
      </Card>
      {changed !== undefined && (
        <ChangePrice model={changed} onClose={() => setChanged(undefined)} />
      )}
      {asked !== undefined && <EntryDialog asked={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

function toneOf({ model, price, figures }: Row): 'bad' | 'warn' | undefined {
  if (Number(figures?.known_margin_usd ?? 0) < 0) return 'bad'
  return price === undefined || model.channels.length === 0 ? 'warn' : undefined
}

function sortValue(
  { model, price, figures, marginShare }: Row,
  by: string,
): string | number | null {
  switch (by) {
    case 'input':
    case 'output':
      return numberOr(decimalOf(price ?? {}, by))
    case 'channels':
      return model.channels.length
    case 'requests':
      return figures?.requests ?? 0
    case 'spend':
      return Number(figures?.revenue_usd ?? 0)
    case 'margin':
      return numberOr(figures?.known_margin_usd)
    case 'share':
      return marginShare ?? null
    default:
      return model.id
  }
}

function numberOr(text: string | undefined): number | null {
  return text === undefined ? null : Number(text)
}

const listColumns: readonly Column<Row>[] = [
  {
    name: 'Model',
    sort: 'model',
    cell: (row) => <ModelName row={row} />,
    csv: ({ model }) => model.id,
  },
  ...(['input', 'output', 'cache_read'] as const).map((name): Column<Row> => {
    const title = { input: 'Input', output: 'Output', cache_read: 'Cache read' }[name]
    return {
      name: title,
      isNumber: true,
      ...(name !== 'cache_read' && { sort: name }),
      cell: ({ price }) => <ClassPrice price={price} name={name} />,
      csv: ({ price }) => decimalOf(price ?? {}, name) ?? null,
    }
  }),
  {
    name: 'Cache write',
    isNumber: true,
    cell: ({ price }) => <CacheWrite price={price} />,
    csv: ({ price }) => decimalOf(price ?? {}, 'cache_write_5m') ?? null,
  },
  {
    name: 'Limits',
    isNumber: true,
    cell: ({ model }) => <Limits model={model} />,
    csv: ({ model }) => model.max_output_tokens,
  },
  {
    name: 'Channels',
    sort: 'channels',
    isNumber: true,
    cell: ({ model }) => <Channels model={model} />,
    csv: ({ model }) => model.channels.join(' '),
  },
  {
    name: 'Requests',
    sort: 'requests',
    isNumber: true,
    cell: ({ figures }) => <Count value={figures?.requests ?? 0} />,
    csv: ({ figures }) => figures?.requests ?? 0,
  },
  {
    name: 'Spend',
    sort: 'spend',
    isNumber: true,
    cell: ({ figures }) => <Usd value={figures?.revenue_usd ?? '0'} />,
    csv: ({ figures }) => figures?.revenue_usd ?? '0',
  },
  {
    name: 'Margin',
    sort: 'margin',
    isNumber: true,
    cell: ({ figures }) => <Usd value={figures?.known_margin_usd ?? '0'} />,
    csv: ({ figures }) => figures?.known_margin_usd ?? '0',
  },
  {
    name: 'Margin %',
    sort: 'share',
    isNumber: true,
    cell: ({ marginShare }) => <Share value={marginShare} />,
    csv: ({ marginShare }) => (marginShare === undefined ? null : marginShare.toFixed(4)),
  },
]

interface Actions {
  readonly onPrice: (model: string) => void
  readonly onEdit: (asked: AskedForm) => void
}

function actionsColumn({ onPrice, onEdit }: Actions): Column<Row> {
  return {
    name: 'Actions',
    cell: ({ model }) => (
      <Menu
        label={`Actions for ${model.id}`}
        items={[
          { text: 'Change price', onSelect: () => onPrice(model.id) },
          {
            text: 'Edit model',
            onSelect: () => onEdit({ kind: 'edit', section: 'models', name: model.id }),
          },
          {
            text: `Edit vendor ${model.vendor}`,
            onSelect: () => onEdit({ kind: 'edit', section: 'vendors', name: model.vendor }),
          },
        ]}
      />
    ),
  }
}

function ModelName({ row: { model, price, later } }: { row: Row }) {
  const others = otherLines(price ?? {})
  return (
    <div className="models-name">
      <Link to="/models" search={{ tab: 'prices', model: model.id }}>
        {model.id}
      </Link>
      <div className="row models-marks">
        <span className="soft">{model.vendor}</span>
        {price === undefined && <Badge tone="warn">No price: not served</Badge>}
        {model.channels.length === 0 && <Badge tone="warn">No channel: not served</Badge>}
        {later !== undefined && <Badge tone="accent">New price later</Badge>}
        {others.length > 0 && (
          <span
            className="badge badge-neutral"
            data-tip={others.map(([field, text]) => `${field} ${text}`).join(', ')}
          >
            More prices
          </span>
        )}
      </div>
    </div>
  )
}

function CacheWrite({ price }: Pick<Row, 'price'>) {
  if (decimalOf(price ?? {}, 'cache_write_1h') === undefined)
    return <ClassPrice price={price} name="cache_write_5m" />
  return (
    <div>
      <div>
        <ClassPrice price={price} name="cache_write_5m" unit="5 min" />
      </div>
      <ClassPrice price={price} name="cache_write_1h" unit="1 h" />
    </div>
  )
}

function Limits({ model }: { model: Model }) {
  const { max_input_tokens: input, max_output_tokens: output, image_tokens: image } = model
  if (input === null && output === null && image === null) return <Missing why="No limit is set" />
  return (
    <div>
      {input !== null && <div data-tip={`${input} tokens`}>{formatCount(input)} in</div>}
      {output !== null && <div data-tip={`${output} tokens`}>{formatCount(output)} out</div>}
      {image !== null && <div data-tip={`${image} tokens`}>{formatCount(image)} per image</div>}
    </div>
  )
}

function Channels({ model: { channels } }: { model: Model }) {
  if (channels.length === 0) return <>0</>
  return <span data-tip={channels.join(', ')}>{channels.length}</span>
}

function Share({ value }: { value: number | undefined }) {
  if (value === undefined) return <Missing why="No revenue of known cost" />
  return <span className={value < 0 ? 'bad' : ''}>{formatShare(value)}</span>
}

/** Versions of prices: those to come, those in force and past ones; those of one model as a time line. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { t } from '../../messages/t.ts'
import { compact } from '../../search.ts'
import { Badge, Card, Facts, type Tone } from '../../ui/card.tsx'
import { formatUsdExact } from '../../ui/format.ts'
import { Row as Line, Stack } from '../../ui/layout.tsx'
import { defineList, type ListColumn } from '../../ui/list/define.ts'
import { Filters } from '../../ui/list/filters.tsx'
import { List } from '../../ui/list/list.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { Missing, Time } from '../../ui/values.tsx'
import {
  changesBetween,
  decimalOf,
  mainClasses,
  otherLines,
  type FieldChange,
} from '../entries/amounts.ts'
import { FieldChanges } from '../entries/changes.tsx'
import { EntryButton } from '../entries/entry-dialog.tsx'
import { pricesQuery, type PriceVersion } from './queries.ts'

interface Row {
  readonly version: PriceVersion
  /** Against the version before; undefined for the first one. */
  readonly changes: readonly FieldChange[] | undefined
}

export function PriceList() {
  return <Shown query={useQuery(pricesQuery)}>{(versions) => <Versions all={versions} />}</Shown>
}

function Versions({ all }: { all: readonly PriceVersion[] }) {
  const navigate = useNavigate({ from: '/models' })
  const { model = '' } = useSearch({ from: '/shell/models' })
  const rows = withChanges(all)
  const models = [...new Set(all.map((version) => version.model))].sort()
  const own = rows.filter(({ version }) => version.model === model)
  return (
    <>
      <Filters
        filters={[
          {
            kind: 'choice',
            name: 'model',
            label: t('models.list.model'),
            any: t('models.versions.allModels'),
            options: models.map((one) => [one, one] as const),
          },
        ]}
        values={own.length > 0 ? { model } : {}}
        onChange={({ model: chosen }) =>
          void navigate({ search: { tab: 'prices', ...compact({ model: chosen }) }, replace: true })
        }
      />
      {own.length > 0 ? (
        <TimeLine model={model} rows={own} />
      ) : (
        <List
          of={versionList}
          list={{ rows: rows.toSorted((one, other) => beginOf(other) - beginOf(one)) }}
          title={t('models.versions.all')}
          hint={t('models.versions.latestFirst')}
          csv="/admin/v1/prices?format=csv"
        />
      )}
    </>
  )
}

/** The API gives versions by model, then by time. */
function withChanges(versions: readonly PriceVersion[]): readonly Row[] {
  return versions.map((version, index) => {
    const before = versions[index - 1]
    const isFirst = before?.model !== version.model
    return {
      version,
      changes: isFirst ? undefined : changesBetween(before.price, version.price),
    }
  })
}

function beginOf({ version: { valid_from: from } }: Row): number {
  return from === null ? 0 : Date.parse(from)
}

const tones: Readonly<Record<PriceVersion['state'], Tone>> = {
  later: 'accent',
  in_force: 'good',
  past: 'neutral',
}

function State({ state }: { state: PriceVersion['state'] }) {
  return <Badge tone={tones[state]}>{t(`models.versions.${state}`)}</Badge>
}

function Begin({ version: { valid_from: from } }: Pick<Row, 'version'>) {
  return from === null ? t('models.versions.fromBeginning') : <Time at={from} />
}

type Price = PriceVersion['price'] | undefined

/** A column for each main class of tokens; it sorts by its name. */
export function priceColumns<Row>(
  priceOf: (row: Row) => Price,
): readonly ListColumn<Row & object>[] {
  return mainClasses.map(({ name, title }) => ({
    id: name,
    name: title,
    sort: name,
    isNumber: true,
    value(row) {
      const text = decimalOf(priceOf(row), name)
      return text === undefined ? null : Number(text)
    },
    cell: (row) => <ClassPrice price={priceOf(row)} of={name} />,
  }))
}

interface ClassPriceProps {
  readonly price: Price
  readonly of: (typeof mainClasses)[number]['name']
}

/** The price of one class of tokens, exact. */
function ClassPrice({ price, of: name }: ClassPriceProps) {
  const text = decimalOf(price, name)
  if (price === undefined) return <Missing why={t('entries.price.unset.input')} />
  if (text === undefined)
    return <Missing why={mainClasses.find((each) => each.name === name)?.fallback ?? ''} />
  return <data value={text}>{formatUsdExact(text)}</data>
}

const versionList = defineList<Row>({
  name: 'prices',
  caption: t('models.versions.caption'),
  rowKey: ({ version }) => `${version.model} ${version.valid_from ?? ''}`,
  columns: [
    {
      id: 'model',
      name: t('models.list.model'),
      cell: ({ version: { model } }) => (
        <Link to="/models" search={{ tab: 'prices', model }}>
          {model}
        </Link>
      ),
    },
    { id: 'from', name: t('models.versions.from'), cell: (row) => <Begin {...row} /> },
    {
      id: 'state',
      name: t('models.versions.state'),
      place: 'state',
      cell: ({ version }) => <State state={version.state} />,
    },
    ...priceColumns(({ version }: Row) => version.price),
  ],
  empty: <Empty title={t('models.versions.none')}>{t('models.versions.noneHint')}</Empty>,
})

function TimeLine({ model, rows }: { model: string; rows: readonly Row[] }) {
  return (
    <Card
      title={t('models.versions.of', { model })}
      hint={t('models.versions.latestFirst')}
      actions={
        <EntryButton asked={{ kind: 'price', model }}>{t('models.price.change')}</EntryButton>
      }
    >
      <ol className="lined">
        {rows.toReversed().map(({ version, changes }) => (
          <li key={version.valid_from ?? ''}>
            <Stack>
              <Line>
                <h3>
                  <Begin version={version} />
                </h3>
                <State state={version.state} />
              </Line>
              {changes !== undefined && changes.length > 0 && <FieldChanges changes={changes} />}
              <Facts
                items={[
                  ...mainClasses.map(
                    ({ name, title }) =>
                      [title, <ClassPrice key={name} price={version.price} of={name} />] as const,
                  ),
                  ...otherLines(version.price),
                ]}
              />
            </Stack>
          </li>
        ))}
      </ol>
    </Card>
  )
}

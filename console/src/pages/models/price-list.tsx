/** Versions of prices: those to come, those in force and past ones; those of one model as a time line. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, Facts, type Tone } from '../../ui/card.tsx'
import { SelectField } from '../../ui/field.tsx'
import { formatUsdExact } from '../../ui/format.ts'
import { Row as Line, Stack } from '../../ui/layout.tsx'
import { defineList, type ListColumn } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Missing, Time } from '../../ui/values.tsx'
import {
  changesBetween,
  decimalOf,
  mainClasses,
  otherLines,
  type FieldChange,
} from '../entries/amounts.ts'
import { FieldChanges } from '../entries/changes.tsx'
import { ChangePrice } from './change-price.tsx'
import { pricesQuery, type PriceVersion } from './queries.ts'

interface Row {
  readonly version: PriceVersion
  /** Against the version before; undefined for the first one. */
  readonly changes: readonly FieldChange[] | undefined
}

export function PriceList() {
  const { data, error, refetch } = useQuery(pricesQuery)
  const navigate = useNavigate({ from: '/models' })
  const { model = '' } = useSearch({ from: '/shell/models' })
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading rows={8} />
  const rows = withChanges(data)
  const models = [...new Set(data.map((version) => version.model))].sort()
  const own = rows.filter(({ version }) => version.model === model)
  return (
    <>
      <div className="row filters">
        <SelectField
          label={t('models.list.model')}
          value={own.length > 0 ? model : ''}
          options={[
            ['', t('models.versions.allModels')],
            ...models.map((one) => [one, one] as const),
          ]}
          onChange={(chosen) =>
            void navigate({
              search: { tab: 'prices', ...(chosen !== '' && { model: chosen }) },
              replace: true,
            })
          }
        />
      </div>
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
    ...mainClasses.map(({ name, title }): ListColumn<Row> => ({
      id: name,
      name: title,
      isNumber: true,
      cell: ({ version }) => <ClassPrice price={version.price} name={name} />,
    })),
  ],
  empty: <Empty title={t('models.versions.none')}>{t('models.versions.noneHint')}</Empty>,
})

interface ClassPriceProps {
  readonly price: PriceVersion['price'] | undefined
  readonly name: (typeof mainClasses)[number]['name']
  /** Stands beside the price, to tell two in one cell apart. */
  readonly unit?: string
}

/** The price of one class of tokens, exact. */
export function ClassPrice({ price, name, unit }: ClassPriceProps) {
  const text = decimalOf(price, name)
  if (price === undefined) return <Missing why={t('entries.price.unset.input')} />
  if (text === undefined)
    return <Missing why={mainClasses.find((each) => each.name === name)?.fallback ?? ''} />
  return (
    <>
      <data value={text}>{formatUsdExact(text)}</data>
      {unit !== undefined && <span className="soft small"> {unit}</span>}
    </>
  )
}

function TimeLine({ model, rows }: { model: string; rows: readonly Row[] }) {
  const mayChange = useMay('owner')
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Card
      title={t('models.versions.of', { model })}
      hint={t('models.versions.latestFirst')}
      actions={
        mayChange && <Button onClick={() => setIsOpen(true)}>{t('models.price.change')}</Button>
      }
    >
      <ol className="models-time-line">
        {rows.toReversed().map(({ version, changes }) => (
          <li key={version.valid_from ?? ''} data-state={version.state}>
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
                      [title, <ClassPrice key={name} price={version.price} name={name} />] as const,
                  ),
                  ...otherLines(version.price),
                ]}
              />
            </Stack>
          </li>
        ))}
      </ol>
      {isOpen && <ChangePrice model={model} onClose={() => setIsOpen(false)} />}
    </Card>
  )
}

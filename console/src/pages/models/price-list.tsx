/** Versions of prices: those to come, those in force and past ones; those of one model as a time line. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, Facts, type Tone } from '../../ui/card.tsx'
import { SelectField } from '../../ui/field.tsx'
import { formatTimeFully } from '../../ui/format.ts'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { ExportButton, Table, type Column } from '../../ui/table.tsx'
import { ChangePrice } from './change-price.tsx'
import { ClassPrice } from './class-price.tsx'
import { FieldChanges } from './field-changes.tsx'
import { changesBetween, decimalOf, mainClasses, otherLines, type PriceChange } from './price.ts'
import { pricesQuery, type PriceVersion } from './queries.ts'

interface Row {
  readonly version: PriceVersion
  /** Against the version before; undefined for the first one. */
  readonly changes: readonly PriceChange[] | undefined
}

export function PriceList() {
  const { data, error, refetch } = useQuery(pricesQuery)
  const { model } = useSearch({ from: '/shell/models' })
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading rows={8} />
  if (data.length === 0)
    return <Empty title="There is no price yet.">Add models in the catalogue file.</Empty>
  const rows = withChanges(data)
  const models = [...new Set(data.map((version) => version.model))].sort()
  const isKnown = model !== undefined && models.includes(model)
  return (
    <>
      <ModelChoice models={models} current={isKnown ? model : ''} rows={rows} />
      {isKnown ? (
        <TimeLine model={model} rows={rows.filter(({ version }) => version.model === model)} />
      ) : (
        <AllVersions rows={rows} />
      )}
    </>
  )
}

/** The API gives versions by model, then by time. */
function withChanges(versions: readonly PriceVersion[]): readonly Row[] {
  return versions.map((version, index) => {
    const before = versions[index - 1]
    return {
      version,
      changes:
        before?.model === version.model ? changesBetween(before.price, version.price) : undefined,
    }
  })
}

interface ModelChoiceProps {
  readonly models: readonly string[]
  readonly current: string
  readonly rows: readonly Row[]
}

function ModelChoice({ models, current, rows }: ModelChoiceProps) {
  const navigate = useNavigate({ from: '/models' })
  return (
    <div className="filters">
      <SelectField
        label="Model"
        value={current}
        options={[['', 'All models'], ...models.map((each) => [each, each] as const)]}
        onChange={(chosen) =>
          void navigate({ search: (old) => ({ ...old, model: chosen }), replace: true })
        }
      />
      <ExportButton fileName="prices" columns={allColumns} readRows={() => rows} />
    </div>
  )
}

function AllVersions({ rows }: { rows: readonly Row[] }) {
  const sorted = rows.toSorted((one, other) => beginOf(other) - beginOf(one))
  return (
    <Card title="All versions" hint="The latest first" isFlush>
      <Table
        caption="Versions of prices"
        columns={allColumns}
        rows={sorted}
        rowKey={({ version }) => `${version.model} ${version.valid_from ?? ''}`}
      />
    </Card>
  )
}

function beginOf({ version: { valid_from: from } }: Row): number {
  return from === null ? 0 : Date.parse(from)
}

const stateNames: Readonly<Record<PriceVersion['state'], readonly [string, Tone]>> = {
  later: ['Later', 'accent'],
  in_force: ['In force', 'good'],
  past: ['Past', 'neutral'],
}

function State({ state }: { state: PriceVersion['state'] }) {
  const [text, tone] = stateNames[state]
  return <Badge tone={tone}>{text}</Badge>
}

const allColumns: readonly Column<Row>[] = [
  {
    name: 'From',
    cell: ({ version }) => <Begin version={version} />,
    csv: ({ version }) => version.valid_from,
  },
  {
    name: 'Model',
    cell: ({ version }) => (
      <Link to="/models" search={{ tab: 'prices', model: version.model }}>
        {version.model}
      </Link>
    ),
    csv: ({ version }) => version.model,
  },
  {
    name: 'State',
    cell: ({ version }) => <State state={version.state} />,
    csv: ({ version }) => stateNames[version.state][0],
  },
  ...mainClasses.map(({ name, title }): Column<Row> => ({
    name: title,
    isNumber: true,
    cell: ({ version }) => <ClassPrice price={version.price} name={name} />,
    csv: ({ version }) => decimalOf(version.price, name) ?? null,
  })),
]

function Begin({ version: { valid_from: from } }: { version: PriceVersion }) {
  if (from === null) return <>From the beginning</>
  const moment = new Date(from)
  return (
    <time dateTime={from} data-tip={formatTimeFully(moment)}>
      {beginTime.format(moment)}
    </time>
  )
}

const beginTime = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})

function TimeLine({ model, rows }: { model: string; rows: readonly Row[] }) {
  const mayChange = useMay('owner')
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Card
      title={`Prices of ${model}`}
      hint="The latest first"
      actions={mayChange && <Button onClick={() => setIsOpen(true)}>Change price</Button>}
    >
      <ol className="models-time-line">
        {rows.toReversed().map((row) => (
          <li key={row.version.valid_from ?? ''} data-state={row.version.state}>
            <VersionEntry row={row} />
          </li>
        ))}
      </ol>
      {isOpen && <ChangePrice model={model} onClose={() => setIsOpen(false)} />}
    </Card>
  )
}

function VersionEntry({ row: { version, changes } }: { row: Row }) {
  const prices = mainClasses.map(
    ({ name, title }) =>
      [title, <ClassPrice key={name} price={version.price} name={name} />] as const,
  )
  return (
    <div className="stack">
      <h3 className="row">
        <Begin version={version} />
        <State state={version.state} />
      </h3>
      {changes !== undefined && changes.length > 0 && <FieldChanges changes={changes} />}
      <Facts items={[...prices, ...otherLines(version.price)]} />
    </div>
  )
}

/** The sums of a period: one line of result, the money by model, and the counts of both sides. */
import { Card } from '../../ui/card.tsx'
import { formatInteger } from '../../ui/format.ts'
import { Empty } from '../../ui/states.tsx'
import { ExportButton, Table, type Column } from '../../ui/table.tsx'
import { Count, Usd } from '../../ui/values.tsx'
import type { Reconciliation } from './queries.ts'

type Model = Reconciliation['models'][number]
type CountRow = Model['counts'][number] & { readonly model: string }

export function Sums({ result }: { result: Reconciliation }) {
  const { models } = result
  const counts = models.flatMap((row) =>
    row.counts.map((count) => ({ ...count, model: nameOf(row) })),
  )
  return (
    <>
      <Card
        title={<Result result={result} />}
        hint="Expected: your own cost, or the charge where it is not known, with failed attempts and checks"
        isFlush
        actions={
          <ExportButton
            fileName="reconciliation-models"
            columns={modelColumns}
            readRows={() => models}
          />
        }
      >
        {models.length === 0 ? (
          <Empty title="No request in this period.">Choose other days or another channel.</Empty>
        ) : (
          <Table caption="Models" columns={modelColumns} rows={models} rowKey={nameOf} />
        )}
      </Card>
      {counts.length > 0 && (
        <Card
          title="Counts"
          hint="Expected: charged requests and checks"
          isFlush
          actions={
            <ExportButton
              fileName="reconciliation-counts"
              columns={countColumns}
              readRows={() => counts}
            />
          }
        >
          <Table
            caption="Counts"
            columns={countColumns}
            rows={counts}
            rowKey={({ model, figure }) => `${model} ${figure}`}
          />
        </Card>
      )}
    </>
  )
}

function Result({ result }: { result: Reconciliation }) {
  const { vendor_usd: billed, expected_usd: expected, difference_usd: difference } = result
  if (billed === null)
    return (
      <>
        Expected <Usd value={expected} />
      </>
    )
  return (
    <>
      Vendor bills <Usd value={billed} />, expected <Usd value={expected} />,{' '}
      <Usd value={difference} /> unexplained
    </>
  )
}

function nameOf({ model }: Model): string {
  return model ?? 'No model named'
}

const modelColumns: readonly Column<Model>[] = [
  {
    name: 'Model',
    cell: (row) => (
      <div className="reconciliation-model">
        <strong className="break">{nameOf(row)}</strong>
        {row.vendor_models.length > 0 && row.vendor_models.join(' + ') !== row.model && (
          <div className="soft break">at the vendor: {row.vendor_models.join(', ')}</div>
        )}
      </div>
    ),
    csv: ({ model }) => model,
  },
  {
    name: 'Charged to accounts',
    isNumber: true,
    cell: ({ charged_usd: usd }) => <Usd value={usd} />,
    csv: ({ charged_usd: usd }) => usd,
  },
  {
    name: 'Vendor bills',
    isNumber: true,
    cell: ({ vendor_usd: usd }) => <Usd value={usd} />,
    csv: ({ vendor_usd: usd }) => usd,
  },
  {
    name: 'Expected',
    isNumber: true,
    cell: ({ expected_usd: usd }) => <Usd value={usd} />,
    csv: ({ expected_usd: usd }) => usd,
  },
  {
    name: 'Difference',
    isNumber: true,
    cell: ({ difference_usd: usd }) => <Usd value={usd} signed />,
    csv: ({ difference_usd: usd }) => usd,
  },
]

const countColumns: readonly Column<CountRow>[] = [
  { name: 'Model', cell: ({ model }) => model, csv: ({ model }) => model },
  {
    name: 'Figure',
    cell: ({ figure }) => figure.replaceAll('_', ' '),
    csv: ({ figure }) => figure,
  },
  {
    name: 'Vendor',
    isNumber: true,
    cell: ({ vendor }) => <Count value={vendor} />,
    csv: ({ vendor }) => vendor,
  },
  {
    name: 'Expected',
    isNumber: true,
    cell: ({ expected }) => <Count value={expected} />,
    csv: ({ expected }) => expected,
  },
  {
    name: 'Difference',
    isNumber: true,
    cell: (row) => <Difference value={differenceOf(row)} />,
    csv: differenceOf,
  },
]

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

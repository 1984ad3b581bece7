/** The vendor's counts against the charges: a verdict for each model, its counts, and the vendor's bill. */
import { Badge, Card, type Tone } from '../../ui/card.tsx'
import { formatInteger } from '../../ui/format.ts'
import { Empty } from '../../ui/states.tsx'
import { ExportButton, Table, type Column } from '../../ui/table.tsx'
import { Usd } from '../../ui/values.tsx'
import type { Comparison } from './queries.ts'

type Verdict = Comparison['verdicts'][number]
type CountRow = Comparison['figures'][number]
type Cost = Comparison['costs'][number]

export function ComparisonCards({ comparison }: { comparison: Comparison }) {
  const { verdicts, figures, costs } = comparison
  return (
    <>
      <Card
        title="Verdicts"
        hint="Does anything in the vendor’s counts remain unexplained?"
        isFlush
        actions={
          <ExportButton
            fileName="reconciliation-verdicts"
            columns={verdictColumns}
            readRows={() => verdicts}
          />
        }
      >
        {verdicts.length === 0 ? (
          <Empty title="There is nothing to judge.">
            The files have no counts for a model of this channel in this period.
          </Empty>
        ) : (
          <Table
            caption="Verdicts"
            columns={verdictColumns}
            rows={verdicts}
            rowKey={({ model }) => model}
            rowTone={({ verdict }) => rowTones[verdict]}
          />
        )}
      </Card>
      {figures.length > 0 && (
        <Card
          title="Counts"
          isFlush
          actions={
            <ExportButton
              fileName="reconciliation-counts"
              columns={countColumns}
              readRows={() => figures}
            />
          }
        >
          <Table
            caption="Counts"
            columns={countColumns}
            rows={figures}
            rowKey={({ model, figure }) => `${model} ${figure}`}
            rowTone={({ difference }) => (difference === 0 ? undefined : 'warn')}
          />
        </Card>
      )}
      {costs.length > 0 && (
        <Card
          title="The vendor’s bill"
          hint="Against your own cost, where every request of the model has one"
          isFlush
          actions={
            <ExportButton
              fileName="reconciliation-costs"
              columns={costColumns}
              readRows={() => costs}
            />
          }
        >
          <Table
            caption="The vendor’s bill"
            columns={costColumns}
            rows={costs}
            rowKey={({ model, vendor_models: names }) => model ?? names.join(' ')}
          />
        </Card>
      )}
    </>
  )
}

const rowTones: Readonly<Record<Verdict['verdict'], 'bad' | 'warn' | undefined>> = {
  explained: undefined,
  possible: 'warn',
  unexplained: 'bad',
}

const verdictTexts: Readonly<
  Record<
    Verdict['verdict'],
    { readonly name: string; readonly tone: Tone; readonly meaning: string }
  >
> = {
  explained: {
    name: 'Explained',
    tone: 'good',
    meaning: 'The charges, and the recorded cost of attempts without a charge, cover it.',
  },
  possible: {
    name: 'Possible',
    tone: 'warn',
    meaning: 'Answers that were cut off before their final counts can explain it.',
  },
  unexplained: {
    name: 'Unexplained',
    tone: 'bad',
    meaning: 'The records of this gateway do not explain it. Ask the vendor.',
  },
}

const verdictColumns: readonly Column<Verdict>[] = [
  {
    name: 'Model',
    cell: ({ model, vendor_models: names }) => (
      <div className="reconciliation-model">
        <strong className="break">{model}</strong>
        {names.length > 0 && names.join(' + ') !== model && (
          <div className="soft break">at the vendor: {names.join(', ')}</div>
        )}
      </div>
    ),
    csv: ({ model }) => model,
  },
  {
    name: 'Verdict',
    cell: ({ verdict }) => (
      <Badge tone={verdictTexts[verdict].tone}>{verdictTexts[verdict].name}</Badge>
    ),
    csv: ({ verdict }) => verdict,
  },
  {
    name: 'Meaning',
    cell: ({ verdict, reasons }) => <Meaning verdict={verdict} reasons={reasons} />,
    csv: ({ reasons }) => reasons.join('; '),
  },
  {
    name: 'More at the vendor',
    isNumber: true,
    cell: ({ difference_usd: usd }) => <Usd value={usd} />,
    csv: ({ difference_usd: usd }) => usd,
  },
  {
    name: 'Explained up to',
    isNumber: true,
    cell: ({ explained_up_to_usd: usd }) => <Usd value={usd} />,
    csv: ({ explained_up_to_usd: usd }) => usd,
  },
  {
    name: 'Possible up to',
    isNumber: true,
    cell: ({ possible_up_to_usd: usd }) => <Usd value={usd} />,
    csv: ({ possible_up_to_usd: usd }) => usd,
  },
  {
    name: 'Not charged',
    isNumber: true,
    cell: ({ not_charged_usd: usd }) => <Usd value={usd} />,
    csv: ({ not_charged_usd: usd }) => usd,
  },
]

function Meaning({ verdict, reasons }: Pick<Verdict, 'verdict' | 'reasons'>) {
  const [first, ...others] = reasons
  if (first === undefined) return verdictTexts[verdict].meaning
  if (others.length === 0) return sentence(first)
  return (
    <ul className="reconciliation-list">
      {reasons.map((reason) => (
        <li key={reason}>{sentence(reason)}</li>
      ))}
    </ul>
  )
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}

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
    cell: ({ vendor }) => formatInteger(vendor),
    csv: ({ vendor }) => vendor,
  },
  {
    name: 'Here',
    isNumber: true,
    cell: ({ ours }) => formatInteger(ours),
    csv: ({ ours }) => ours,
  },
  {
    name: 'Difference',
    isNumber: true,
    cell: ({ difference }) => <Difference value={difference} />,
    csv: ({ difference }) => difference,
  },
]

function Difference({ value }: { value: number }) {
  if (value === 0) return <span className="soft">0</span>
  return (
    <strong>
      {value > 0 ? '+' : '−'}
      {formatInteger(Math.abs(value))}
    </strong>
  )
}

const costColumns: readonly Column<Cost>[] = [
  {
    name: 'Model',
    cell: ({ model }) => model ?? <span className="soft">No model named</span>,
    csv: ({ model }) => model,
  },
  {
    name: 'Vendor bills',
    isNumber: true,
    cell: ({ vendor_usd: usd }) => <Usd value={usd} />,
    csv: ({ vendor_usd: usd }) => usd,
  },
  {
    name: 'Charged to accounts',
    isNumber: true,
    cell: ({ charged_usd: usd }) => <Usd value={usd} />,
    csv: ({ charged_usd: usd }) => usd,
  },
  {
    name: 'Own cost here',
    isNumber: true,
    cell: ({ own_cost_usd: usd }) => <Usd value={usd} />,
    csv: ({ own_cost_usd: usd }) => usd,
  },
  {
    name: 'Bill − own cost',
    isNumber: true,
    cell: ({ difference_usd: usd }) => <Usd value={usd} signed />,
    csv: ({ difference_usd: usd }) => usd,
  },
]

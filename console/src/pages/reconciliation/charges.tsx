/** The gateway's own record: charges, estimates, unpaid attempts and checks by channel and model. */
import { Card } from '../../ui/card.tsx'
import { formatInteger } from '../../ui/format.ts'
import { Empty } from '../../ui/states.tsx'
import { ExportButton, Table, type Column } from '../../ui/table.tsx'
import { Count, Usd } from '../../ui/values.tsx'
import type { Reconciliation } from './queries.ts'

type Row = Reconciliation['models'][number]

export function Charges({ result: { models } }: { result: Reconciliation }) {
  return (
    <Card
      title="Charges here"
      hint="From the records of this gateway"
      isFlush
      actions={
        <ExportButton fileName="reconciliation-charges" columns={columns} readRows={() => models} />
      }
    >
      {models.length === 0 ? (
        <Empty title="No request in this period.">Choose other days or another channel.</Empty>
      ) : (
        <Table
          caption="Charges here"
          columns={columns}
          rows={models}
          rowKey={({ channel, model }) => `${channel} ${model}`}
        />
      )}
    </Card>
  )
}

const columns: readonly Column<Row>[] = [
  {
    name: 'Model',
    cell: ({ channel, model }) => (
      <div className="reconciliation-model">
        <strong className="break">{model}</strong>
        <div className="soft break">{channel === '' ? 'no channel' : channel}</div>
      </div>
    ),
    csv: ({ model }) => model,
  },
  {
    name: 'Requests',
    isNumber: true,
    cell: (row) => <Count value={row.charged_requests} />,
    csv: (row) => row.charged_requests,
  },
  {
    name: 'Tokens',
    isNumber: true,
    cell: (row) => <Tokens counts={row.charged_tokens} />,
    csv: (row) =>
      Object.entries(row.charged_tokens)
        .map((each) => each.join(' '))
        .join('; '),
  },
  {
    name: 'Charged',
    isNumber: true,
    cell: (row) => <Usd value={row.charged_usd} />,
    csv: (row) => row.charged_usd,
  },
  {
    name: 'Own cost',
    isNumber: true,
    cell: (row) => <Usd value={row.own_cost_usd} />,
    csv: (row) => row.own_cost_usd,
  },
  {
    name: 'Estimated',
    isNumber: true,
    cell: (row) => <WithCount usd={row.estimated_usd} count={row.estimated_requests} />,
    csv: (row) => row.estimated_usd,
  },
  {
    name: 'Not charged (capped)',
    isNumber: true,
    cell: (row) => <WithCount usd={row.not_charged_usd} count={row.capped_requests} />,
    csv: (row) => row.not_charged_usd,
  },
  {
    name: 'Unpaid attempts',
    isNumber: true,
    cell: (row) => (
      <WithCount usd={row.operator_cost_usd} count={row.uncharged_requests + row.other_attempts} />
    ),
    csv: (row) => row.operator_cost_usd,
  },
  {
    name: 'Checks',
    isNumber: true,
    cell: (row) => <WithCount usd={row.check_usd} count={row.checks} />,
    csv: (row) => row.check_usd,
  },
]

function WithCount({ usd, count }: { usd: string; count: number }) {
  if (count === 0) return <span className="soft">0</span>
  return (
    <div>
      <Usd value={usd} />
      <div className="soft reconciliation-small">{formatInteger(count)} ×</div>
    </div>
  )
}

function Tokens({ counts }: { counts: Readonly<Record<string, number>> }) {
  const sum = Object.values(counts).reduce((total, count) => total + count, 0)
  const parts = Object.entries(counts).map(
    ([name, count]) => `${name.replaceAll('_', ' ')} ${formatInteger(count)}`,
  )
  return <span data-tip={parts.join(', ')}>{formatInteger(sum)}</span>
}

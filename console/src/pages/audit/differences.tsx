/** One audit with each difference that it has found. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../ui/button.tsx'
import { Card, Notice } from '../../ui/card.tsx'
import { formatTimeFully } from '../../ui/format.ts'
import { Failure, Loading } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { auditQuery, type AuditDetail } from './queries.ts'

export function AuditDifferences({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(auditQuery(id))
  return (
    <Card
      title={data === undefined ? 'Audit' : `Audit of ${formatTimeFully(new Date(data.at))}`}
      actions={
        <Link to="/audit" search={{ tab: 'books' }} className={buttonClass()}>
          Close
        </Link>
      }
      isFlush={(data?.differences.length ?? 0) > 0}
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && <Result audit={data} />}
    </Card>
  )
}

function Result({ audit }: { audit: AuditDetail }) {
  const { differences, counts, error, result } = audit
  if (result === 'not_run') return <Notice tone="warn">The audit could not run: {error}</Notice>
  if (differences.length === 0)
    return (
      <Notice tone="good">
        No difference in {counts.entries} entries of {counts.accounts} accounts.
      </Notice>
    )
  return (
    <Table
      caption="Differences"
      rows={differences}
      rowKey={({ invariant, kind, row, account_id: account }) =>
        [invariant, kind, row, account].join(' ')
      }
      columns={[
        {
          name: 'Account',
          cell: ({ account_id: account }) => (
            <Link to="/accounts/$account" params={{ account }}>
              {account}
            </Link>
          ),
        },
        { name: 'Difference', cell: ({ message }) => message },
        { name: 'Kind', cell: ({ kind }) => kind },
        { name: 'Row', cell: ({ row }) => <code className="break">{row}</code> },
      ]}
    />
  )
}

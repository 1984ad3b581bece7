/** The columns of a statement's lines. */
import { Link } from '@tanstack/react-router'
import { Badge, type Tone } from '../../ui/card.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time, Usd } from '../../ui/values.tsx'
import type { Statement } from './queries.ts'

type Entry = Statement['entries'][number]

const tones: Readonly<Record<Entry['kind'], Tone>> = {
  charge: 'neutral',
  credit: 'good',
  adjustment: 'warn',
  refund: 'accent',
}

export const statementColumns: readonly Column<Entry>[] = [
  { name: 'Time', cell: ({ at }) => <Time at={at} /> },
  { name: 'Kind', cell: ({ kind }) => <Badge tone={tones[kind]}>{kind}</Badge> },
  { name: 'What', cell: (entry) => <What entry={entry} /> },
  { name: 'Amount', isNumber: true, cell: ({ amount }) => <Usd value={amount} signed /> },
  { name: 'Balance', isNumber: true, cell: ({ balance }) => <Usd value={balance} /> },
]

function What({ entry: { request, reference, note, exchange } }: { entry: Entry }) {
  return (
    <div className="statement-what">
      {request === null ? (
        <span>{reference}</span>
      ) : (
        <Link to="/requests/$request" params={{ request }}>
          {exchange === null ? `Request ${request}` : `${exchange.model} · ${exchange.key}`}
        </Link>
      )}
      {exchange !== null && <div className="soft">{exchange.calculation}</div>}
      {note !== null && <div className="soft">{note}</div>}
    </div>
  )
}

/** The columns of the list of requests, on the screen and in the file. */
import { Link } from '@tanstack/react-router'
import { Badge } from '../../ui/card.tsx'
import { formatCount, formatInteger } from '../../ui/format.ts'
import type { Column } from '../../ui/table.tsx'
import { Duration, Missing, Time, Usd } from '../../ui/values.tsx'
import { shortVendorError } from '../../ui/vendor-error.tsx'
import type { RequestLine } from './queries.ts'
import { durationMsOf, outcomeWords } from './words.ts'

export const columns: readonly Column<RequestLine>[] = [
  {
    name: 'Started',
    cell: ({ id, started_at: at }) => (
      <Link to="/requests/$request" params={{ request: id }} className="requests-time">
        <Time at={at} />
      </Link>
    ),
    csv: ({ started_at: at }) => at,
  },
  { name: 'Account and key', cell: (line) => <Owner line={line} />, csv: ({ account }) => account },
  { name: 'Model and channel', cell: (line) => <Way line={line} />, csv: ({ model }) => model },
  { name: 'Outcome', cell: (line) => <Outcome line={line} />, csv: ({ outcome }) => outcome },
  { name: 'Tokens', isNumber: true, cell: (line) => <Tokens line={line} /> },
  {
    name: 'Cost',
    isNumber: true,
    cell: ({ cost_usd: cost }) => <Usd value={cost} places={6} />,
    csv: ({ cost_usd: cost }) => cost,
  },
  {
    name: 'First event',
    isNumber: true,
    cell: ({ first_event_ms: ms }) => <Duration ms={ms} />,
    csv: ({ first_event_ms: ms }) => ms,
  },
  {
    name: 'Duration',
    isNumber: true,
    cell: (line) => <Duration ms={line.requests > 1 ? null : durationMsOf(line)} />,
    csv: (line) => (line.requests > 1 ? null : durationMsOf(line)),
  },
]

/** The other facts of a line, one column each. */
export const fileColumns: readonly Column<RequestLine>[] = [
  ...columns,
  ...(
    [
      ['id', ({ id }) => id],
      ['account_id', (line) => line.account_id],
      ['key_id', (line) => line.key_id],
      ['key', ({ key }) => key],
      ['vendor', ({ vendor }) => vendor],
      ['operation', ({ operation }) => operation],
      ['channel', ({ channel }) => channel],
      ['attempts', (line) => line.attempt_count],
      ['status', ({ status }) => status],
      ['code', ({ code }) => code],
      ['vendor_error_type', ({ vendor_error: error }) => error?.type ?? null],
      ['vendor_error_code', ({ vendor_error: error }) => error?.code ?? null],
      ['vendor_error_param', ({ vendor_error: error }) => error?.param ?? null],
      ['input_tokens', (line) => line.input_tokens],
      ['output_tokens', (line) => line.output_tokens],
      ['cache_tokens', (line) => line.cache_tokens],
      ['client', ({ client }) => client],
      ['requests', ({ requests }) => requests],
    ] satisfies [string, (line: RequestLine) => string | number | null][]
  ).map(([name, csv]) => ({ name, csv, cell: () => null })),
]

function Owner({ line }: { line: RequestLine }) {
  return (
    <div className="requests-pair">
      <Link to="/accounts/$account" params={{ account: line.account_id }}>
        {line.account}
      </Link>
      <Link
        to="/requests"
        search={(search) => ({ ...search, key: line.key_id })}
        className="requests-quiet"
        data-tip={`Only requests of this key (${line.key_id})`}
      >
        {line.key ?? line.key_id}
      </Link>
    </div>
  )
}

function Way({ line: { model, operation, channel, attempt_count: count } }: { line: RequestLine }) {
  return (
    <div className="requests-pair">
      <span>{model ?? operation ?? <Missing why="No model was named" />}</span>
      <span className="requests-way">
        {channel === null ? (
          <span className="soft">no channel</span>
        ) : (
          <Link to="/channels/$channel" params={{ channel }} className="requests-quiet">
            {channel}
          </Link>
        )}
        {count > 1 && <Badge tone="accent">{count} attempts</Badge>}
      </span>
    </div>
  )
}

function Outcome({ line }: { line: RequestLine }) {
  const { outcome, status, code, requests, vendor_error: error } = line
  const [text, tone] = outcomeWords[outcome]
  return (
    <div className="requests-pair">
      <span className="requests-way">
        <Badge tone={tone}>{text}</Badge>
        {requests > 1 && (
          <Badge>
            <span data-tip="The line stands for this many requests of the key within a minute">
              × {formatInteger(requests)}
            </span>
          </Badge>
        )}
      </span>
      {(code !== null || outcome !== 'completed') && (
        <span className="requests-code" data-tip={error?.meaning.replaceAll('`', '')}>
          {[status, code, error && shortVendorError(error)].filter((part) => part).join(' · ')}
        </span>
      )}
    </div>
  )
}

function Tokens({ line }: { line: RequestLine }) {
  const { input_tokens: input, output_tokens: output, cache_tokens: cache } = line
  if (line.total_tokens === 0) return <Missing why="No tokens" />
  const parts = [`${formatInteger(input)} input`, `${formatInteger(output)} output`]
  if (cache > 0) parts.push(`${formatInteger(cache)} from or into the cache`)
  parts.push(`${formatInteger(line.total_tokens)} in all`)
  return (
    <span data-tip={parts.join(', ')}>
      {formatCount(input)} → {formatCount(output)}
    </span>
  )
}

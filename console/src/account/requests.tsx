/** The requests of the account, the newest first, with filters; one of them explained in a dialog. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Badge, Card } from '../ui/card.tsx'
import { Empty, Failure, Loading } from '../ui/states.tsx'
import { ExportButton, More, Table, type Column } from '../ui/table.tsx'
import { Count, Missing, Time, Usd } from '../ui/values.tsx'
import { shortVendorError } from '../ui/vendor-error.tsx'
import { addressText, goTo, useAddress, type Address } from './address.ts'
import type { RequestLine } from './forms.ts'
import { keysQuery, requestsQuery } from './queries.ts'
import { RequestDialog } from './request-dialog.tsx'
import { RequestFilters } from './request-filters.tsx'
import { ViewLink } from './view-link.tsx'
import { outcomeOf } from './words.ts'

export function Requests() {
  const address = useAddress()
  const { key, model, outcome, from, to } = address
  const query = useInfiniteQuery(requestsQuery({ key, model, outcome, from, to }))
  const { data: keys = [] } = useQuery(keysQuery)
  const names = new Map(keys.map((each) => [each.id, each.name === '' ? each.head : each.name]))
  const rows = query.data?.pages.flatMap(({ items }) => items)
  const columns = columnsOf(address, names)
  const isFiltered = [key, model, outcome, from, to].some((each) => each !== undefined)
  return (
    <>
      <RequestFilters />
      <Card
        title="Requests"
        hint="The newest first. Open one to see how its cost comes about."
        isFlush
        actions={
          rows !== undefined &&
          rows.length > 0 && (
            <ExportButton fileName="requests" columns={columns} readRows={() => rows} />
          )
        }
      >
        {rows === undefined && query.error === null && <Loading rows={8} />}
        {rows === undefined && query.error !== null && (
          <Failure error={query.error} onRetry={() => void query.refetch()} />
        )}
        {rows?.length === 0 && !query.hasNextPage && <Nothing isFiltered={isFiltered} />}
        {rows !== undefined && rows.length > 0 && (
          <Table
            caption="Requests of the account"
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
          />
        )}
        {rows !== undefined && (rows.length > 0 || query.hasNextPage) && (
          <More
            count={rows.length}
            hasMore={query.hasNextPage}
            isBusy={query.isFetchingNextPage}
            onMore={() => void query.fetchNextPage()}
          />
        )}
      </Card>
      <RequestDialog
        id={address.request}
        onClose={() => goTo({ ...address, request: undefined })}
      />
    </>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="No request fits these filters.">
      <ViewLink to={{ view: 'requests' }}>Show all requests</ViewLink>
    </Empty>
  ) : (
    <Empty title="There are no requests yet.">
      <ViewLink to={{ view: 'setup' }}>Set up a client</ViewLink>
    </Empty>
  )
}

function columnsOf(
  address: Address,
  names: ReadonlyMap<string, string>,
): readonly Column<RequestLine>[] {
  return [
    {
      name: 'Time',
      cell: ({ id, started_at: at }) => (
        <a
          href={addressText({ ...address, request: id })}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return
            event.preventDefault()
            goTo({ ...address, request: id })
          }}
        >
          <Time at={at} />
        </a>
      ),
      csv: ({ started_at: at }) => at,
    },
    {
      name: 'Model',
      cell: ({ model }) => model ?? <Missing why="The request named no model of the gateway" />,
      csv: ({ model }) => model,
    },
    {
      name: 'Key',
      cell: ({ key_id: id }) => names.get(id) ?? id,
      csv: ({ key_id: id }) => names.get(id) ?? id,
    },
    {
      name: 'Outcome',
      cell: (row) => <Outcome row={row} />,
      csv: ({ outcome }) => outcome,
    },
    {
      name: 'Input',
      isNumber: true,
      cell: (row) => <Count value={row.input_tokens} />,
      csv: (row) => row.input_tokens,
    },
    {
      name: 'Output',
      isNumber: true,
      cell: (row) => <Count value={row.output_tokens} />,
      csv: (row) => row.output_tokens,
    },
    {
      name: 'Cache',
      isNumber: true,
      cell: (row) => <Count value={row.cache_tokens} />,
      csv: (row) => row.cache_tokens,
    },
    {
      name: 'Cost',
      isNumber: true,
      cell: ({ cost }) => <Usd value={cost} places={6} />,
      csv: ({ cost }) => cost,
    },
  ]
}

function Outcome({ row }: { row: RequestLine }) {
  const { outcome, status, requests, vendor_error: error } = row
  const { name, tone } = outcomeOf(outcome)
  return (
    <span className="row">
      <Badge tone={tone}>{name}</Badge>
      {status >= 400 && <span className="soft">{status}</span>}
      {error !== null && <span className="soft break">{shortVendorError(error)}</span>}
      {requests > 1 && <span className="soft">{requests} times</span>}
    </span>
  )
}

/** All requests: the newest as they end, or those of a period; each leads to its own page. */
import { useInfiniteQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ArrowUp, Pause, Play } from 'lucide-react'
import { useEffect, type ReactNode } from 'react'
import { compact } from '../../search.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { formatInteger } from '../../ui/format.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { ExportButton, More, Table } from '../../ui/table.tsx'
import { announce } from '../../ui/toast.tsx'
import { isLive, type ListSearch, type SearchChanges } from './address.ts'
import { columns, fileColumns } from './columns.tsx'
import { Filters } from './filters.tsx'
import { FindById } from './find-by-id.tsx'
import { exportRowsMax, listQuery, newestMax, readForExport, type RequestLine } from './queries.ts'
import { useTail } from './tail.ts'
import './requests.css'

/** Rows on the screen while the list follows the requests. */
const liveRowsMax = 200

export function Requests() {
  const search = useSearch({ from: '/shell/requests' })
  const navigate = useNavigate()
  const change = (changes: SearchChanges): void =>
    void navigate({ to: '/requests', search: compact({ ...search, ...changes }), replace: true })
  return (
    <Page title="Requests" hint={hintOf(search)} actions={<FindById />}>
      <Filters search={search} onChange={change} />
      {/* Another filter is another list. */}
      <RequestList key={JSON.stringify(search)} search={search} />
    </Page>
  )
}

function hintOf(search: ListSearch): string {
  return isLive(search)
    ? 'The newest first. New ones appear as they end.'
    : 'The newest first, of one period.'
}

function RequestList({ search }: { search: ListSearch }) {
  const client = useQueryClient()
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(
    listQuery(search),
  )
  const follows = isLive(search)
  const listed = data?.pages.flatMap(({ items }) => items)
  const tail = useTail(search, listed)
  const isApart = areApart(tail.shown, listed)
  useEffect(() => {
    if (isApart) readFirstPage(client, search)
  }, [isApart, client, search])
  if (error !== null && data === undefined)
    return (
      <Card>
        <Failure error={error} onRetry={() => void refetch()} />
      </Card>
    )
  const all = merge(tail.shown, listed ?? [])
  const rows = follows && data?.pages.length === 1 ? all.slice(0, liveRowsMax) : all
  return (
    <Card
      title={follows ? 'Live' : 'Found'}
      hint={<TailState follows={follows} isPaused={tail.isPaused} />}
      actions={
        <>
          {follows && (
            <Button onClick={() => tail.setIsPaused(!tail.isPaused)}>
              {tail.isPaused ? <Play aria-hidden /> : <Pause aria-hidden />}
              {tail.isPaused ? 'Continue' : 'Pause'}
            </Button>
          )}
          <ExportButton
            fileName="requests"
            columns={fileColumns}
            readRows={() => exportRows(search)}
          />
        </>
      }
      isFlush
    >
      <WaitingBar count={tail.waiting.length} onShow={tail.show} />
      {data === undefined && <Loading rows={8} />}
      {data !== undefined && rows.length === 0 && <NoRows search={search} />}
      {rows.length > 0 && (
        <>
          <Table
            caption="Requests"
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
            rowTone={toneOf}
          />
          <More
            count={rows.length}
            hasMore={hasNextPage || rows.length < all.length}
            isBusy={isFetchingNextPage}
            onMore={() => void fetchNextPage()}
          />
        </>
      )}
    </Card>
  )
}

/** Whether requests are missing between the newest ones and the list as it was read. */
function areApart(
  newest: readonly RequestLine[],
  listed: readonly RequestLine[] | undefined,
): boolean {
  if (newest.length === 0 || listed === undefined) return false
  const ids = new Set(newest.map(({ id }) => id))
  return !listed.some(({ id }) => ids.has(id))
}

/**
 * Each request once, the newest first; ids begin with the time. Requests that are older than the last one of
 * the list come with its next page.
 */
function merge(
  newest: readonly RequestLine[],
  listed: readonly RequestLine[],
): readonly RequestLine[] {
  const oldest = listed.at(-1)?.id ?? ''
  const added = newest.filter(({ id }) => id > oldest)
  const lines = new Map([...listed, ...added].map((line) => [line.id, line]))
  return [...lines.values()].sort((left, right) => (left.id < right.id ? 1 : -1))
}

/** Later pages would no longer follow the first one without a hole. */
function readFirstPage(client: QueryClient, search: ListSearch): void {
  const { queryKey } = listQuery(search)
  client.setQueryData(queryKey, (known) =>
    known === undefined
      ? undefined
      : { pages: known.pages.slice(0, 1), pageParams: known.pageParams.slice(0, 1) },
  )
  void client.invalidateQueries({ queryKey, exact: true })
}

function toneOf({ outcome }: RequestLine): 'bad' | undefined {
  return outcome === 'failed' || outcome === 'upstream_cut' || outcome === 'gateway_cut'
    ? 'bad'
    : undefined
}

function TailState({ follows, isPaused }: { follows: boolean; isPaused: boolean }): ReactNode {
  if (!follows) return 'This list stays as it is. Clear the period to follow new requests.'
  return (
    <span role="status">
      {isPaused ? 'Paused. New requests wait.' : 'New requests appear by themselves.'}
    </span>
  )
}

/** Requests that came while the reader looked at others. */
function WaitingBar({ count, onShow }: { count: number; onShow: () => void }) {
  const show = (): void => {
    onShow()
    scrollTo({ top: 0 })
  }
  return (
    <div className="requests-waiting" role="status">
      {count > 0 && (
        <Button look="primary" onClick={show}>
          <ArrowUp aria-hidden /> {count === newestMax ? `${count} or more` : count} new
        </Button>
      )}
    </div>
  )
}

function NoRows({ search }: { search: ListSearch }) {
  if (Object.keys(search).length === 0)
    return (
      <Empty title="There is no request yet.">
        Make an account and a key, and send a request with it. It appears here when it ends.
        <Link to="/accounts" search={{}} className={buttonClass()}>
          Go to the accounts
        </Link>
      </Empty>
    )
  return (
    <Empty title="No request fits this filter.">
      Callers without a valid key leave no record.
      <Link to="/requests" search={{}} className={buttonClass()}>
        Clear the filter
      </Link>
    </Empty>
  )
}

async function exportRows(search: ListSearch): Promise<readonly RequestLine[]> {
  const { rows, hasMore } = await readForExport(search)
  const count = formatInteger(exportRowsMax)
  if (hasMore) announce(`The file has the newest ${count} requests. Filter for the others.`)
  return rows
}

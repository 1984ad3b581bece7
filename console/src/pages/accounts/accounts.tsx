/** All accounts with their balance and spend: to find one, to see which need money, to make a new one. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { ExportButton, More, Table, type Sort } from '../../ui/table.tsx'
import { compact } from '../../search.ts'
import { accountColumns, exportedColumns } from './account-columns.tsx'
import { readListSearch, type ListSearch, type Shown } from './address.ts'
import { NewAccount } from './new-account.tsx'
import { accountsQuery, readAllAccounts, type Account } from './queries.ts'
import { standingOf } from './state.tsx'
import './accounts.css'

export function Accounts() {
  const { new: isAsked = false, ...search } = useSearch({ from: '/shell/accounts' })
  const navigate = useNavigate({ from: '/accounts' })
  const mayChange = useMay('operator')
  const [isCreating, setIsCreating] = useState(false)
  const [wasAsked, setWasAsked] = useState(false)
  // A link has asked for the form. It opens once: the address forgets it.
  if (wasAsked !== isAsked) {
    setWasAsked(isAsked)
    if (isAsked && mayChange) setIsCreating(true)
  }
  useEffect(() => {
    if (isAsked) void navigate({ search: ({ new: _asked, ...others }) => others, replace: true })
  }, [isAsked, navigate])
  const change = (changes: Partial<Record<keyof ListSearch, string | undefined>>): void =>
    void navigate({ search: readListSearch({ ...search, ...changes }), replace: true })
  return (
    <Page
      title="Accounts"
      actions={
        <>
          <ExportButton
            fileName="accounts"
            columns={exportedColumns}
            readRows={() => readAllAccounts(search)}
          />
          {mayChange && (
            <Button look="primary" onClick={() => setIsCreating(true)}>
              <Plus aria-hidden /> New account
            </Button>
          )}
        </>
      }
    >
      <Filters search={search} onChange={change} />
      <Card isFlush>
        <List search={search} onSort={({ by, order }) => change({ sort: by, order })} />
      </Card>
      <NewAccount isOpen={isCreating} onClose={() => setIsCreating(false)} />
    </Page>
  )
}

const shownOptions: readonly (readonly [Shown | 'all', string])[] = [
  ['all', 'All'],
  ['active', 'Active'],
  ['low', 'Low or no balance'],
  ['suspended', 'Suspended'],
  ['closed', 'Closed'],
]

interface FiltersProps {
  readonly search: ListSearch
  readonly onChange: (changes: { q?: string; status?: string | undefined }) => void
}

function Filters({ search: { q = '', status }, onChange }: FiltersProps) {
  return (
    <div className="filters" role="search">
      <SearchField
        label="Name"
        placeholder="Part of the name"
        value={q}
        onChange={(text) => onChange({ q: text })}
      />
      <SelectField<Shown | 'all'>
        label="Show"
        value={status ?? 'all'}
        options={shownOptions}
        onChange={(shown) => onChange({ status: shown === 'all' ? undefined : shown })}
      />
    </div>
  )
}

interface ListProps {
  readonly search: ListSearch
  readonly onSort: (sort: Sort) => void
}

function List({ search, onSort }: ListProps) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    { ...accountsQuery(search), placeholderData: keepPreviousData },
  )
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading rows={8} />
  const rows = data.pages.flatMap(({ items }) => items)
  if (rows.length === 0) return <NoAccount search={search} />
  const { sort = 'name', order = sort === 'name' ? 'asc' : 'desc' } = search
  return (
    <>
      <Table
        caption="Accounts"
        columns={accountColumns}
        rows={rows}
        rowKey={({ id }) => id}
        sort={{ by: sort, order }}
        onSort={onSort}
        rowTone={toneOf}
      />
      <More
        count={rows.length}
        hasMore={hasNextPage}
        isBusy={isFetchingNextPage}
        onMore={() => void fetchNextPage()}
      />
    </>
  )
}

function toneOf(account: Account): 'bad' | 'warn' | undefined {
  const standing = standingOf(account)
  if (standing === 'exhausted') return 'bad'
  return standing === 'low' ? 'warn' : undefined
}

function NoAccount({ search }: { search: ListSearch }) {
  const isFiltered = Object.keys(compact({ q: search.q, status: search.status })).length > 0
  if (isFiltered)
    return (
      <Empty title="No account fits the filter.">Change the name or the choice beside it.</Empty>
    )
  return (
    <Empty title="There is no account yet.">
      Make one, give it a balance and a key, and send the first request with that key.
    </Empty>
  )
}

/**
 * Keys and tokens of all accounts: to find a leaked one, to see which are used, to revoke several at once.
 */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useState } from 'react'
import { useList } from '../../api/list.ts'
import { accountNamesQuery } from '../../api/names.ts'
import { useSecretSearch } from '../../api/secret-search.ts'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { SelectField } from '../../ui/field.tsx'
import { List } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Empty } from '../../ui/states.tsx'
import { SuggestField } from '../../ui/suggest-field.tsx'
import type { Column } from '../../ui/table.tsx'
import { readSearch, type ListSearch, type SearchChanges } from './address.ts'
import { keyColumns } from './columns.tsx'
import { nameOf, readKeys, type Key } from './queries.ts'
import { RevokeQuestion } from './revoke.tsx'
import './keys.css'

export function Keys() {
  const search = useSearch({ from: '/shell/keys' })
  const navigate = useNavigate({ from: '/keys' })
  const change = (changes: SearchChanges): void =>
    void navigate({ search: readSearch({ ...search, ...changes }), replace: true })
  return (
    <Page title="Keys" hint="Keys and tokens of all accounts, and the admin tokens.">
      <Filters search={search} onChange={change} />
      {/* Another list has another selection. */}
      <KeyList key={JSON.stringify(search)} search={search} onChange={change} />
    </Page>
  )
}

interface ListProps {
  readonly search: ListSearch
  readonly onChange: (changes: SearchChanges) => void
}

const kinds = [
  ['all', 'All'],
  ['client', 'Keys'],
  ['reader', 'Read-only tokens'],
  ['admin', 'Admin tokens'],
] as const

const states = [
  ['all', 'Any'],
  ['active', 'Active'],
  ['expired', 'Expired'],
  ['revoked', 'Revoked'],
] as const

function Filters({ search: { q = '', key, account = '', kind, state }, onChange }: ListProps) {
  const [typed, setTyped] = useState('')
  const { take } = useSecretSearch()
  const accounts = useQuery({ ...accountNamesQuery(typed), enabled: typed !== '' })
  return (
    <div className="filters" role="search">
      <SearchField
        label="Secret or name"
        placeholder="cr_ab12 or a name"
        value={q}
        onChange={(text) => onChange({ q: text, key: undefined })}
        take={take}
      />
      <SuggestField
        label="Account"
        placeholder="Name or id"
        value={account}
        suggestions={(accounts.data ?? []).map((value) => ({ value }))}
        onTyped={setTyped}
        onApply={(value) => onChange({ account: value === '' ? undefined : value })}
      />
      <SelectField
        label="Kind"
        value={kind ?? 'all'}
        options={kinds}
        onChange={(chosen) => onChange({ kind: chosen === 'all' ? undefined : chosen })}
      />
      <SelectField
        label="State"
        value={state ?? 'all'}
        options={states}
        onChange={(chosen) => onChange({ state: chosen === 'all' ? undefined : chosen })}
      />
      {key !== undefined && (
        <Button onClick={() => onChange({ key: undefined })}>
          <X aria-hidden /> Only one key
        </Button>
      )}
    </div>
  )
}

function KeyList({ search, onChange }: ListProps) {
  const list = useList(['keys', 'all', search], readKeys(search))
  const mayRevoke = useMayRevoke()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [asked, setAsked] = useState<readonly Key[]>([])
  const revocable = (list.rows ?? []).filter(mayRevoke)
  const shown = revocable.filter(({ id }) => chosen.has(id))
  const { sort: by = 'created', order = 'desc' } = search
  return (
    <Card isFlush>
      {revocable.length > 0 && (
        <div className="keys-bulk" role="group" aria-label="Selected keys">
          <span className="soft" role="status">
            {shown.length === 0 ? 'None selected' : `${shown.length} selected`}
          </span>
          <Button
            look="quiet"
            onClick={() =>
              setChosen(new Set(shown.length > 0 ? [] : revocable.map(({ id }) => id)))
            }
          >
            {shown.length > 0 ? 'Select none' : 'Select all'}
          </Button>
          <Button disabled={shown.length === 0} onClick={() => setAsked(shown)}>
            Revoke selected
          </Button>
        </div>
      )}
      <div className="keys-list">
        <List
          caption="Keys"
          columns={[
            ...(revocable.length > 0 ? [chooser(mayRevoke, { chosen, setChosen })] : []),
            ...keyColumns,
            ...(revocable.length > 0 ? [revoker(mayRevoke, (key) => setAsked([key]))] : []),
          ]}
          rowKey={({ id }) => id}
          list={list}
          sort={{ by, order }}
          onSort={(sort) => onChange({ sort: sort.by, order: sort.order })}
          empty={
            <Empty title="No key fits the filter.">
              A head is how the secret begins, such as cr_ab12, in upper and lower case.
            </Empty>
          }
        />
      </div>
      <RevokeQuestion
        keys={asked}
        onClose={() => setAsked([])}
        onDone={() => {
          setAsked([])
          setChosen(new Set())
        }}
      />
    </Card>
  )
}

/** Returns which keys this person can still revoke. */
function useMayRevoke(): (key: Key) => boolean {
  const isOperator = useMay('operator')
  const isOwner = useMay('owner')
  return ({ kind, state }) => state !== 'revoked' && (kind === 'admin' ? isOwner : isOperator)
}

interface Choice {
  readonly chosen: ReadonlySet<string>
  readonly setChosen: (chosen: ReadonlySet<string>) => void
}

function chooser(mayRevoke: (key: Key) => boolean, { chosen, setChosen }: Choice): Column<Key> {
  const toggle = (id: string): void => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    setChosen(next)
  }
  return {
    name: 'Select',
    cell: (key) =>
      mayRevoke(key) ? (
        <input
          type="checkbox"
          className="keys-choose"
          aria-label={`Select ${nameOf(key)}`}
          checked={chosen.has(key.id)}
          onChange={() => toggle(key.id)}
        />
      ) : null,
  }
}

function revoker(mayRevoke: (key: Key) => boolean, onAsk: (key: Key) => void): Column<Key> {
  return {
    name: 'Revoke',
    isNumber: true,
    cell: (key) =>
      mayRevoke(key) ? (
        <Button aria-label={`Revoke ${nameOf(key)}`} onClick={() => onAsk(key)}>
          Revoke
        </Button>
      ) : null,
  }
}

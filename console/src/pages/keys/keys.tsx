/**
 * Keys and tokens of all accounts: to find a leaked one, to see which are used, to revoke several at once.
 */
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useList } from '../../api/list.ts'
import { useSecretSearch } from '../../api/secret-search.ts'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { useListAddress } from '../../ui/list/address.ts'
import { Filters } from '../../ui/list/filters.tsx'
import { List } from '../../ui/list/list.tsx'
import { Page } from '../../ui/page.tsx'
import { keyList } from './key-list.tsx'
import { csvAddress, readKeys, type Key } from './queries.ts'
import { RevokeQuestion, useMayRevoke } from './revoke.tsx'

export function Keys() {
  const search = useSearch({ from: '/shell/keys' })
  const { open: _open, ...filter } = search
  const { change, list: address } = useListAddress(search, { by: 'created', order: 'desc' })
  const { take } = useSecretSearch()
  const list = useList(['keys', 'all', filter], readKeys(filter))
  const mayRevoke = useMayRevoke()
  const [asked, setAsked] = useState<{
    readonly keys: readonly Key[]
    readonly forget: () => void
  }>()
  return (
    <Page title={t('keys.title')} hint={t('keys.hint')}>
      <Filters filters={keyList.filters ?? []} values={search} onChange={change} take={take} />
      {/* Another list has another selection. */}
      <List
        key={JSON.stringify(filter)}
        of={keyList}
        list={list}
        {...address}
        csv={csvAddress(filter)}
        bulk={{
          mayChoose: mayRevoke,
          actions: (keys, forget) => (
            <Button onClick={() => setAsked({ keys, forget })}>{t('keys.revokeSelected')}</Button>
          ),
        }}
      />
      <RevokeQuestion
        keys={asked?.keys ?? []}
        onClose={() => setAsked(undefined)}
        onDone={() => {
          asked?.forget()
          setAsked(undefined)
        }}
      />
    </Page>
  )
}

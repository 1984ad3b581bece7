/** All requests: the newest as they end, or those of a period; each opens at the side of the list. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ArrowUp, Pause, Play, Search } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { useSecretSearch } from '../../api/secret-search.ts'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { useListAddress } from '../../ui/list/address.ts'
import { Filters } from '../../ui/list/filters.tsx'
import { List } from '../../ui/list/list.tsx'
import { Page } from '../../ui/page.tsx'
import { RangePicker } from '../../ui/range.tsx'
import { filterOf, isLive, type RequestFilter } from './address.ts'
import { Histogram } from './histogram.tsx'
import { csvAddress, newestMax } from './queries.ts'
import { requestList } from './request-list.tsx'
import { useRequests } from './tail.ts'
import './request.css'

export function Requests() {
  const search = useSearch({ from: '/shell/requests' })
  const { change, list } = useListAddress(search)
  const filter = filterOf(search)
  const follows = isLive(filter)
  return (
    <Page
      title={t('requests.title')}
      hint={t(follows ? 'requests.hintLive' : 'requests.hintPeriod')}
      actions={<FindById />}
    >
      <Filters filters={requestList.filters ?? []} values={search} onChange={change}>
        <RangePicker
          value={filter}
          unit="moment"
          presets={['15m', '1h', '24h', 'today', 'yesterday', '7d', '30d']}
          usual={{ name: t('requests.live') }}
          onChange={change}
        />
      </Filters>
      <Histogram filter={filter} onChoose={change} />
      {/* Another filter is another list. */}
      <RequestList key={JSON.stringify(filter)} filter={filter} address={list} />
    </Page>
  )
}

interface RequestListProps {
  readonly filter: RequestFilter
  readonly address: ReturnType<typeof useListAddress>['list']
}

function RequestList({ filter, address }: RequestListProps) {
  const { tail, list } = useRequests(filter)
  const follows = isLive(filter)
  const stateWord = !follows ? 'stays' : tail.isPaused ? 'paused' : 'follows'
  const showNewest = (): void => {
    tail.show()
    scrollTo({ top: 0 })
  }
  return (
    <List
      of={requestList}
      list={list}
      {...address}
      isFiltered={Object.keys(filter).length > 0}
      hint={<span role="status">{t(`requests.list.${stateWord}`)}</span>}
      csv={csvAddress(filter)}
      actions={
        follows && (
          <Button onClick={() => tail.setIsPaused(!tail.isPaused)}>
            {tail.isPaused ? <Play aria-hidden /> : <Pause aria-hidden />}
            {t(tail.isPaused ? 'requests.continue' : 'requests.pause')}
          </Button>
        )
      }
    >
      <div className="requests-waiting" role="status">
        {tail.waitingCount > 0 && (
          <Button look="primary" onClick={showNewest}>
            <ArrowUp aria-hidden />{' '}
            {t(tail.waitingCount === newestMax ? 'requests.newOrMore' : 'requests.new', {
              count: tail.waitingCount,
            })}
          </Button>
        )}
      </div>
    </List>
  )
}

/**
 * Opens a request by the id in its answer's header, or by the vendor's own id. A secret, which people paste
 * too, opens its key.
 */
function FindById() {
  const navigate = useNavigate()
  const [id, setId] = useState('')
  const { take, openHead } = useSecretSearch()
  const open = (event: FormEvent): void => {
    event.preventDefault()
    const request = id.trim()
    if (request === '' || openHead(request)) return
    void navigate({ to: '/requests/$request', params: { request } })
  }
  return (
    <form
      className="row requests-find"
      role="search"
      aria-label={t('requests.find')}
      onSubmit={open}
    >
      <input
        className="input"
        type="search"
        aria-label={t('requests.findLabel')}
        placeholder="ex_… / req_…"
        autoComplete="off"
        spellCheck={false}
        value={id}
        onChange={({ target }) => setId(take(target.value) ? '' : target.value)}
      />
      <Button type="submit">
        <Search aria-hidden /> {t('requests.find')}
      </Button>
    </form>
  )
}

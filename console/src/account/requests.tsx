/** The requests of the account, the newest or the dearest first, with filters; one of them in a sheet. */
import { useQuery } from '@tanstack/react-query'
import { useState, type FormEvent, type ReactNode } from 'react'
import { BillTable } from '../figures/bill.tsx'
import { outcomeTones } from '../figures/outcomes.ts'
import { t } from '../messages/t.ts'
import { Button } from '../ui/button.tsx'
import { Badge, Card, Facts, Notice } from '../ui/card.tsx'
import { CopyId } from '../ui/copy.tsx'
import { TextField } from '../ui/field.tsx'
import { formatUsdExact } from '../ui/format.ts'
import { Stack } from '../ui/layout.tsx'
import { defineList, type ListColumn, type SheetProps } from '../ui/list/define.ts'
import { Filters } from '../ui/list/filters.tsx'
import { List } from '../ui/list/list.tsx'
import { SheetHead } from '../ui/list/sheet.tsx'
import { dayPresets, hasRange, periodOf } from '../ui/range.ts'
import { RangePicker } from '../ui/range.tsx'
import { Empty, Shown } from '../ui/states.tsx'
import { Count, Duration, Missing, Time, Usd, useNow } from '../ui/values.tsx'
import { shortVendorError, VendorErrorNotice } from '../ui/vendor-error.tsx'
import { addressText, goTo, useAddress, ViewLink, type Address } from './address.tsx'
import type { RequestInFull, RequestLine } from './answers.ts'
import { keysQuery, pricesQuery, requestQuery, useRequests } from './read.ts'

type Outcome = keyof typeof outcomeTones

function isOutcome(word: string): word is Outcome {
  return word in outcomeTones
}

const noModel = <Missing why={t('account.noModel')} />

const columns: readonly ListColumn<RequestLine>[] = [
  {
    id: 'time',
    name: t('account.time'),
    place: 'note',
    cell: ({ started_at: at }) => <Time at={at} />,
    value: ({ started_at: at }) => at,
  },
  {
    id: 'model',
    name: t('account.model'),
    place: 'name',
    cell: ({ model }) => model ?? noModel,
    value: ({ model }) => model,
  },
  {
    id: 'key',
    name: t('account.key'),
    cell: ({ key_id: id }) => <KeyName id={id} />,
    value: ({ key_id: id }) => id,
  },
  {
    id: 'outcome',
    name: t('account.outcome'),
    place: 'state',
    cell: (row) => <OutcomeCell row={row} />,
    value: ({ outcome }) => outcome,
  },
  tokens('input', ({ input_tokens: count }) => count),
  tokens('output', ({ output_tokens: count }) => count),
  tokens('cache', ({ cache_tokens: count }) => count),
  {
    id: 'cost',
    name: t('account.cost'),
    isNumber: true,
    sort: 'cost',
    place: 'amount',
    cell: ({ cost }) => <Usd value={cost} places={6} />,
    value: ({ cost }) => cost,
  },
  {
    id: 'label',
    name: t('account.label'),
    isExtra: true,
    cell: ({ label }) => label,
    value: ({ label }) => label,
  },
]

function tokens(
  id: 'input' | 'output' | 'cache',
  value: (row: RequestLine) => number,
): ListColumn<RequestLine> {
  return {
    id,
    name: t(`account.tokens.${id}`),
    isNumber: true,
    cell: (row) => <Count value={value(row)} />,
    value,
  }
}

function useKeyNames(): ReadonlyMap<string, string> {
  const { data: keys = [] } = useQuery(keysQuery)
  return new Map(keys.map(({ id, name, head }) => [id, name === '' ? head : name]))
}

function KeyName({ id }: { id: string }) {
  return useKeyNames().get(id) ?? id
}

function OutcomeBadge({ of: word }: { of: string }) {
  return isOutcome(word) ? (
    <Badge tone={outcomeTones[word]}>{t(`account.outcomes.${word}`)}</Badge>
  ) : (
    <Badge>{word}</Badge>
  )
}

function OutcomeCell({
  row: { outcome, status, requests, vendor_error: error },
}: {
  row: RequestLine
}) {
  return (
    <span className="row">
      <OutcomeBadge of={outcome} />
      {status >= 400 && <span className="soft">{status}</span>}
      {error !== null && <span className="soft break">{shortVendorError(error)}</span>}
      {requests > 1 && <span className="soft">{t('account.times', { count: requests })}</span>}
    </span>
  )
}

const requestList = defineList<RequestLine>({
  name: 'account-page-requests',
  caption: t('account.requestsOf'),
  columns,
  rowKey: ({ id }) => id,
  Sheet: RequestSheet,
  opener: ({ id }, content) => <OpenLink id={id}>{content}</OpenLink>,
  empty: (
    <Empty title={t('account.noRequests')}>
      <ViewLink to={{ view: 'setup' }}>{t('account.setUpClient')}</ViewLink>
    </Empty>
  ),
  emptyFiltered: (
    <Empty title={t('account.noneFits')}>
      <ViewLink to={{ view: 'requests' }}>{t('account.showAll')}</ViewLink>
    </Empty>
  ),
})

function OpenLink({ id, children }: { id: string; children: ReactNode }) {
  return (
    <a href={addressText({ ...useAddress(), request: id })} data-open>
      {children}
    </a>
  )
}

const minuteMs = 60_000

export function Requests() {
  const address = useAddress()
  const { key, model, outcome, sort, request } = address
  const nowMs = useNow(minuteMs)
  const period = hasRange(address) ? periodOf(address, { unit: 'day', nowMs, usual: '30d' }) : {}
  const list = useRequests({ key, model, outcome, sort, ...period })
  const names = useKeyNames()
  const named = columns.map((column) =>
    column.id === 'key'
      ? { ...column, value: ({ key_id: id }: RequestLine) => names.get(id) ?? id }
      : column,
  )
  return (
    <>
      <RequestFilters />
      <List
        of={{ ...requestList, columns: named }}
        title={t('account.tabs.requests')}
        hint={t(sort === 'cost' ? 'account.dearestFirst' : 'account.newestFirst')}
        isFiltered={hasRange(address) || [key, model, outcome].some((each) => each !== undefined)}
        list={list}
        sort={sort === 'cost' ? { by: 'cost', order: 'desc' } : undefined}
        // The other order of costs is no question that anyone has: a second click leads back.
        onSort={({ order }) => goTo({ ...address, sort: order === 'desc' ? 'cost' : undefined })}
        open={request}
        onOpen={(id) => goTo({ ...address, request: id })}
        file="requests"
      />
    </>
  )
}

/** The filters are the page's address. */
function RequestFilters() {
  const address = useAddress()
  const names = useKeyNames()
  const { data: prices } = useQuery(pricesQuery)
  const change = (fields: Partial<Address>): void =>
    goTo({ ...address, ...fields, request: undefined }, { replaces: true })
  const { key, model } = address
  const models = (prices?.prices ?? []).map((each) => [each.model, each.model] as const)
  return (
    <Filters
      filters={[
        choice('key', t('account.allKeys'), withChosen([...names], key)),
        choice('model', t('account.allModels'), withChosen(models, model)),
        choice('outcome', t('account.allOutcomes'), outcomeOptions),
      ]}
      values={address}
      onChange={change}
    >
      <RangePicker
        value={address}
        unit="day"
        presets={dayPresets}
        quick={['today', 'yesterday']}
        usual={{ name: t('account.anyTime') }}
        onChange={change}
      />
      <FindById />
    </Filters>
  )
}

type Option = readonly [value: string, text: string]

const outcomeOptions = Object.keys(outcomeTones)
  .filter(isOutcome)
  .map((word): Option => [word, t(`account.outcomes.${word}`)])

function choice(name: 'key' | 'model' | 'outcome', any: string, options: readonly Option[]) {
  return { kind: 'choice', name, label: t(`account.${name}`), any, options } as const
}

/** With the chosen value where the list does not have it. */
function withChosen(options: readonly Option[], chosen: string | undefined): readonly Option[] {
  const isKnown = chosen === undefined || options.some(([value]) => value === chosen)
  return isKnown ? options : [...options, [chosen, chosen]]
}

/** Opens a request by the id that its answer had. */
function FindById() {
  const address = useAddress()
  const [id, setId] = useState('')
  const open = (event: FormEvent): void => {
    event.preventDefault()
    if (id.trim() !== '') goTo({ ...address, request: id.trim() })
  }
  return (
    <form className="row row-end" onSubmit={open}>
      <TextField
        label={t('account.requestId')}
        placeholder={t('account.idExample')}
        value={id}
        onChange={setId}
      />
      <Button type="submit">{t('account.open')}</Button>
    </form>
  )
}

/** What became of a request, and its cost line by line. */
function RequestSheet({ id }: SheetProps<RequestLine>) {
  return (
    <>
      <SheetHead title={t('account.request')} />
      <Shown query={useQuery(requestQuery(id))} rows={8}>
        {(request) => <Explained request={request} />}
      </Shown>
    </>
  )
}

function Explained({ request }: { request: RequestInFull }) {
  const { vendor_error: error, estimated, requests } = request
  return (
    <Stack>
      <div className="row">
        <OutcomeBadge of={request.outcome} />
        <span>{explain(request)}</span>
      </div>
      {error !== null && <VendorErrorNotice error={error} />}
      <Card>
        <Facts items={factsOf(request)} />
      </Card>
      <Card title={t('account.cost')} isFlush={request.bill !== null}>
        <Cost request={request} />
      </Card>
      {estimated && <Notice>{t('account.estimated')}</Notice>}
      {requests > 1 && <Notice>{t('account.standsFor', { count: requests })}</Notice>}
      <Card title={t('account.forSupport')}>
        <Facts items={idsOf(request)} />
      </Card>
    </Stack>
  )
}

/** In the language of the page; the gateway's own words where its outcome is unknown here. */
function explain({ outcome, explanation }: RequestInFull): string {
  if (!isOutcome(outcome)) return explanation
  const isCharged = /\bis charged\b/.test(explanation)
  return [t(`account.explained.${outcome}`), ...(isCharged ? [t('account.notFree')] : [])].join(' ')
}

function factsOf(request: RequestInFull): readonly (readonly [string, ReactNode])[] {
  const { model, key, key_id: keyId, operation, status, code, stream } = request
  const { finish_reason: reason } = request
  const tookMs = Date.parse(request.ended_at) - Date.parse(request.started_at)
  const answer = stream === null ? 'none' : stream ? 'streamed' : 'whole'
  return [
    [t('account.model'), model ?? noModel],
    [t('account.key'), key ?? keyId],
    [t('account.began'), <Time key="began" at={request.started_at} />],
    [t('account.took'), <Duration key="took" ms={tookMs} />],
    [t('account.firstEvent'), <Duration key="first" ms={request.first_event_ms} />],
    [t('account.status'), code === null ? status : [`${status} `, <code key="code">{code}</code>]],
    [t('account.operation'), operation ?? <Missing why={t('account.noOperation')} />],
    [t('account.answer'), t(`account.answers.${answer}`)],
    ...(reason === null
      ? []
      : [[t('account.finishReason'), <code key="reason">{reason}</code>] as const]),
  ]
}

function Cost({ request: { bill, cost, refund, paid } }: { request: RequestInFull }) {
  if (bill !== null)
    return (
      <BillTable
        bill={bill}
        cost={cost}
        refund={refund === null ? undefined : { ...refund, paid }}
      />
    )
  return (
    <p className="soft">
      {/[1-9]/.test(cost)
        ? t('account.noDetails', { cost: formatUsdExact(cost) })
        : t('account.costNothing')}
    </p>
  )
}

function idsOf({ id, vendor_request_id: vendorId }: RequestInFull) {
  const idOf = (text: string): ReactNode => (
    <CopyId key={text} text={text} label={t('ui.copy.copy')} />
  )
  return [
    [t('account.requestId'), idOf(id)] as const,
    ...(vendorId === null ? [] : [[t('account.vendorId'), idOf(vendorId)] as const]),
  ]
}

/** The list of requests as a declaration: columns, filters, and what a row opens. */
import { Link } from '@tanstack/react-router'
import { nameFilter } from '../../api/names.ts'
import { outcomeTones } from '../../figures/outcomes.ts'
import { t } from '../../messages/t.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Badge } from '../../ui/card.tsx'
import { formatCount, formatInteger } from '../../ui/format.ts'
import { defineList } from '../../ui/list/define.ts'
import { Empty } from '../../ui/states.tsx'
import { Count, Duration, Missing, Time, Usd } from '../../ui/values.tsx'
import { shortVendorError, vendorErrorMeaning } from '../../ui/vendor-error.tsx'
import { Speed } from './outcome.tsx'
import { durationMsOf, type RequestLine } from './queries.ts'
import { RequestSheet } from './request.tsx'
import { AccountLink, ChannelLink } from '../links.tsx'

const codes = [
  'access.rate_limited',
  'access.tokens_limited',
  'ledger.insufficient_balance',
  'ledger.unavailable',
  'relay.model_unknown',
  'relay.no_channel_available',
  'relay.request_invalid',
  'relay.upstream_failed',
  'relay.upstream_throttled',
  'relay.upstream_timeout',
]

type FilterName = 'account' | 'key' | 'model' | 'channel' | 'status' | 'code' | 'label'

export const requestList = defineList<RequestLine, FilterName>({
  name: 'requests',
  caption: t('requests.title'),
  rowKey: ({ id }) => id,
  rowTone: ({ outcome }) => (outcomeTones[outcome] === 'bad' ? 'bad' : undefined),
  Sheet: RequestSheet,
  opener: ({ id }, content) => (
    <Link to="/requests/$request" params={{ request: id }} data-open>
      {content}
    </Link>
  ),
  filters: [
    nameFilter('account', t('requests.account')),
    nameFilter('model', t('requests.model')),
    nameFilter('channel', t('requests.channel')),
    {
      kind: 'suggest',
      name: 'status',
      label: t('requests.status'),
      placeholder: t('requests.statusExample'),
      suggestions: [
        ['2xx', t('requests.status2xx')],
        ['4xx', t('requests.status4xx')],
        ['5xx', t('requests.status5xx')],
        ['402', t('requests.status402')],
        ['429', t('requests.status429')],
        ['499', t('requests.status499')],
      ],
    },
    {
      kind: 'suggest',
      name: 'code',
      label: t('requests.code'),
      suggestions: codes.map((code) => [code, ''] as const),
    },
    { kind: 'suggest', name: 'label', label: t('requests.label'), suggestions: [] },
    { kind: 'link', name: 'key', label: t('requests.onlyKey') },
  ],
  columns: [
    {
      id: 'started',
      name: t('requests.started'),
      place: 'note',
      cell: ({ started_at: at }) => <Time at={at} />,
    },
    {
      id: 'account',
      name: t('requests.account'),
      place: 'name',
      cell: ({ account, account_id: id }) => <AccountLink id={id}>{account}</AccountLink>,
    },
    { id: 'key', name: t('requests.key'), isExtra: true, cell: (line) => <KeyLink line={line} /> },
    {
      id: 'model',
      name: t('requests.model'),
      cell: ({ model, operation }) => model ?? operation ?? <Missing why={t('requests.noModel')} />,
    },
    {
      id: 'channel',
      name: t('requests.channel'),
      room: 'wide',
      cell: (line) => <Way line={line} />,
    },
    {
      id: 'outcome',
      name: t('requests.outcome'),
      place: 'state',
      cell: (line) => <OutcomeCell line={line} />,
    },
    {
      id: 'tokens',
      name: t('requests.tokens'),
      isNumber: true,
      cell: (line) => <Tokens line={line} />,
    },
    {
      id: 'cached',
      name: t('requests.cached'),
      isNumber: true,
      room: 'wide',
      cell: ({ cache_tokens: cached }) =>
        cached === 0 ? <Missing why={t('requests.noCache')} /> : <Count value={cached} />,
    },
    {
      id: 'cost',
      name: t('requests.cost'),
      isNumber: true,
      place: 'amount',
      cell: ({ cost_usd: cost }) => <Usd value={cost} places={6} />,
    },
    {
      id: 'first',
      name: t('requests.firstEvent'),
      isNumber: true,
      room: 'wide',
      cell: ({ first_event_ms: ms }) => <Duration ms={ms} />,
    },
    {
      id: 'duration',
      name: t('requests.duration'),
      isNumber: true,
      room: 'wide',
      cell: (line) => <Duration ms={line.requests > 1 ? null : durationMsOf(line)} />,
    },
    {
      id: 'speed',
      name: t('requests.speed'),
      isNumber: true,
      room: 'widest',
      cell: (line) => <Speed line={line} />,
    },
    { id: 'client', name: t('requests.client'), isExtra: true, cell: ({ client }) => client },
    { id: 'label', name: t('requests.label'), isExtra: true, cell: ({ label }) => label },
  ],
  empty: (
    <Empty title={t('requests.noneTitle')}>
      {t('requests.none')}
      <Link to="/accounts" search={{}} className={buttonClass()}>
        {t('requests.goToAccounts')}
      </Link>
    </Empty>
  ),
  emptyFiltered: (
    <Empty title={t('requests.noneFitsTitle')}>
      {t('requests.noneFits')}
      <Link to="/requests" search={{}} className={buttonClass()}>
        {t('requests.clearFilter')}
      </Link>
    </Empty>
  ),
})

function KeyLink({ line: { key, key_id: id } }: { line: RequestLine }) {
  return (
    <Link to="/requests" search={{ key: id }} data-tip={t('requests.onlyThisKey', { id })}>
      {key ?? id}
    </Link>
  )
}

function Way({ line: { channel, attempt_count: count } }: { line: RequestLine }) {
  return (
    <>
      {channel === null ? (
        <Missing why={t('requests.noChannel')} />
      ) : (
        <ChannelLink name={channel} />
      )}{' '}
      {count > 1 && (
        <Badge tone="accent">
          <span data-tip={t('requests.attemptCount', { count })}>{count}×</span>
        </Badge>
      )}
    </>
  )
}

function OutcomeCell({ line }: { line: RequestLine }) {
  const { outcome, status, code, requests, vendor_error: error } = line
  const words = t(`requests.outcomes.${outcome}`)
  const why = code ?? (error && shortVendorError(error)) ?? words
  return (
    <>
      <Badge tone={outcomeTones[outcome]}>
        <span
          data-tip={[words, error && vendorErrorMeaning(error).replaceAll('`', '')]
            .filter(Boolean)
            .join('. ')}
        >
          {outcome === 'completed' ? words : [status, why].join(' · ')}
        </span>
      </Badge>{' '}
      {requests > 1 && (
        <Badge>
          <span data-tip={t('requests.standsFor')}>× {formatInteger(requests)}</span>
        </Badge>
      )}
    </>
  )
}

function Tokens({ line }: { line: RequestLine }) {
  const {
    input_tokens: input,
    output_tokens: output,
    cache_tokens: cache,
    total_tokens: total,
  } = line
  if (total === 0) return <Missing why={t('requests.noTokens')} />
  return (
    <span data-tip={t('requests.tokensTip', { input, output, cache, total })}>
      {formatCount(input)} → {formatCount(output)}
    </span>
  )
}

/** Top-up codes: the batches, the codes of one of them, a new batch, and what is revoked. */
import { Link, useSearch } from '@tanstack/react-router'
import { api, bodyOf, csvAddressOf } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Acts } from '../../ui/acts.tsx'
import { AskButton } from '../../ui/ask.tsx'
import { Badge } from '../../ui/card.tsx'
import { defineList } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Count, Time, Usd } from '../../ui/values.tsx'
import { Actor } from '../audit/action-list.tsx'
import { AccountLink } from '../links.tsx'
import { NewCodes } from './new-codes.tsx'

const address = '/admin/v1/codes'

function readBatches(cursor: { cursor?: string }) {
  return bodyOf(api.GET(address, { params: { query: { limit: 50, ...cursor } } }))
}

function readCodes(id: string) {
  return (cursor: { cursor?: string }) =>
    bodyOf(
      api.GET('/admin/v1/codes/{id}', {
        params: { path: { id }, query: { limit: 100, ...cursor } },
      }),
    )
}

type Batch = Awaited<ReturnType<typeof readBatches>>['items'][number]
type Code = Awaited<ReturnType<ReturnType<typeof readCodes>>>['items'][number]

const refresh = [['codes']]

const batchList = defineList<Batch>({
  name: 'code-batches',
  caption: t('codes.batches'),
  rowKey: ({ id }) => id,
  columns: [
    {
      id: 'note',
      name: t('codes.note'),
      cell: ({ id, note }) => (
        <Link to="/codes" search={{ batch: id }}>
          {note === '' ? id : note}
        </Link>
      ),
    },
    {
      id: 'amount',
      name: t('codes.amount'),
      isNumber: true,
      place: 'amount',
      cell: ({ amount_usd: amount }) => <Usd value={amount} />,
    },
    ...(['count', 'open', 'redeemed', 'revoked', 'expired'] as const).map((name) => ({
      id: name,
      name: t(`codes.counts.${name}`),
      isNumber: true,
      cell: (batch: Batch) => <Count value={batch[name]} />,
    })),
    {
      id: 'expires',
      name: t('codes.expires'),
      cell: ({ expires_at: at }) => (at === null ? t('codes.never') : <Time at={at} />),
    },
    { id: 'made', name: t('codes.made'), cell: ({ created_at: at }) => <Time at={at} /> },
    {
      id: 'by',
      name: t('codes.by'),
      cell: ({ actor, actor_name: name }) => <Actor id={actor} name={name} />,
    },
    {
      id: 'revoke',
      name: t('codes.actions'),
      isAction: true,
      cell: ({ id, open }) =>
        open > 0 && (
          <Revoke
            key={id}
            id={id}
            title={t('codes.revokeBatchTitle', { count: open })}
            text={t('codes.revokeBatchText')}
          />
        ),
    },
  ],
  empty: <Empty title={t('codes.none')}>{t('codes.noneHint')}</Empty>,
})

const tones = { open: 'accent', redeemed: 'good', revoked: 'neutral', expired: 'neutral' } as const

const codeList = defineList<Code>({
  name: 'codes',
  caption: t('codes.ofBatch'),
  rowKey: ({ id }) => id,
  columns: [
    { id: 'head', name: t('codes.code'), cell: ({ head }) => <code>{head}</code> },
    {
      id: 'state',
      name: t('codes.state'),
      place: 'state',
      cell: ({ state }) => <Badge tone={tones[state]}>{t(`codes.states.${state}`)}</Badge>,
    },
    {
      id: 'account',
      name: t('codes.account'),
      cell: ({ account_id: id, account_name: name }) =>
        id !== null && <AccountLink id={id}>{name ?? id}</AccountLink>,
    },
    {
      id: 'ended',
      name: t('codes.ended'),
      cell: ({ redeemed_at: redeemed, revoked_at: revoked }) => <Time at={redeemed ?? revoked} />,
    },
    { id: 'id', name: t('codes.id'), isExtra: true, cell: ({ id }) => <code>{id}</code> },
    {
      id: 'revoke',
      name: t('codes.actions'),
      isAction: true,
      cell: ({ id, head, state }) =>
        state === 'open' && (
          <Revoke
            key={id}
            id={id}
            title={t('codes.revokeCodeTitle', { head })}
            text={t('codes.revokeCodeText')}
          />
        ),
    },
  ],
  empty: null,
})

function Revoke({ id, title, text }: { id: string; title: string; text: string }) {
  const mayRevoke = useMay('operator')
  if (!mayRevoke) return null
  return (
    <AskButton
      text={t('codes.revoke')}
      title={title}
      action={t('codes.revoke')}
      act={() => bodyOf(api.DELETE('/admin/v1/codes/{id}', { params: { path: { id } } }))}
      done={t('codes.isRevoked')}
      refresh={refresh}
    >
      {text}
    </AskButton>
  )
}

export function Codes() {
  const { batch } = useSearch({ from: '/shell/codes' })
  return batch === undefined ? <Batches /> : <OneBatch key={batch} id={batch} />
}

const newCodes = {
  text: t('codes.make'),
  form: (close: () => void) => <NewCodes refresh={refresh} onClose={close} />,
}

function Batches() {
  const mayMake = useMay('operator')
  return (
    <Page title={t('codes.title')} hint={t('codes.hint')}>
      <List
        of={batchList}
        list={useList(['codes', 'batches'], readBatches)}
        title={t('codes.batches')}
        csv={csvAddressOf(address, {})}
        actions={mayMake && <Acts acts={[newCodes]} />}
      />
    </Page>
  )
}

function OneBatch({ id }: { id: string }) {
  return (
    <Page title={id} trail={<Link to="/codes">{t('codes.title')}</Link>}>
      <List
        of={codeList}
        list={useList(['codes', id], readCodes(id))}
        title={t('codes.ofBatch')}
        csv={csvAddressOf(`${address}/${encodeURIComponent(id)}`, {})}
      />
    </Page>
  )
}

/** Audits of the books with their differences, and the log of what operators have done. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { BookCheck } from 'lucide-react'
import { api, bodyOf } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { reworded, t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Notice } from '../../ui/card.tsx'
import { formatTimeFully } from '../../ui/format.ts'
import { Stack } from '../../ui/layout.tsx'
import { useListAddress } from '../../ui/list/address.ts'
import { defineList, type SheetProps } from '../../ui/list/define.ts'
import { Filters } from '../../ui/list/filters.tsx'
import { List } from '../../ui/list/list.tsx'
import { RowFacts, SheetHead } from '../../ui/list/sheet.tsx'
import { Page } from '../../ui/page.tsx'
import { RangePicker } from '../../ui/range.tsx'
import { dayPresets } from '../../ui/range.ts'
import { describeFailure, Empty, Shown } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { announce } from '../../ui/toast.tsx'
import { Count, Duration, Time } from '../../ui/values.tsx'
import { Actor, actionList } from './action-list.tsx'
import { csvAddress, readActions, readAudits, type AuditRow } from './queries.ts'
import { AccountLink } from '../links.tsx'

export function Audit() {
  const { tab = 'books' } = useSearch({ from: '/shell/audit' })
  return (
    <Page title={t('audit.title')} hint={t('audit.hint')}>
      <Tabs
        label={t('audit.title')}
        current={tab}
        tabs={{
          books: { text: t('audit.books'), content: <Books /> },
          actions: { text: t('audit.actions'), content: <Actions /> },
        }}
      />
    </Page>
  )
}

function Actions() {
  const search = useSearch({ from: '/shell/audit' })
  const { tab: _tab, audit: _audit, open: _open, ...filter } = search
  const { change, list: address } = useListAddress(search)
  return (
    <>
      <Filters filters={actionList.filters ?? []} values={search} onChange={change}>
        <RangePicker
          value={search}
          unit="moment"
          presets={dayPresets}
          usual={{ name: t('audit.anyTime') }}
          onChange={change}
        />
      </Filters>
      <List
        of={actionList}
        {...address}
        list={useList(['actions', filter], readActions(filter))}
        isFiltered={Object.keys(filter).length > 0}
        hint={t('audit.actionsHint')}
        csv={csvAddress(filter)}
      />
    </>
  )
}

const tones = { passed: 'good', failed: 'bad', not_run: 'warn' } as const

const auditList = defineList<AuditRow>({
  name: 'audits',
  caption: t('audit.auditsCaption'),
  rowKey: ({ id }) => id,
  rowTone: ({ result }) => (result === 'failed' ? 'bad' : undefined),
  Sheet: AuditSheet,
  columns: [
    { id: 'time', name: t('audit.time'), cell: ({ at }) => <Time at={at} /> },
    {
      id: 'result',
      name: t('audit.result'),
      place: 'state',
      cell: ({ result }) => <Badge tone={tones[result]}>{t(`audit.results.${result}`)}</Badge>,
    },
    { id: 'scope', name: t('audit.scope'), cell: ({ scope }) => t(`audit.scopes.${scope}`) },
    {
      id: 'by',
      name: t('audit.by'),
      place: 'note',
      cell: ({ actor, actor_name: name }) => <Actor id={actor} name={name} />,
    },
    countColumn('accounts'),
    countColumn('entries'),
    { ...countColumn('differences'), place: 'amount' },
    {
      id: 'took',
      name: t('audit.took'),
      isNumber: true,
      cell: ({ duration_ms: ms }) => <Duration ms={ms} />,
    },
  ],
  empty: <Empty title={t('audit.none')}>{t('audit.noneHint')}</Empty>,
})

function countColumn(id: 'accounts' | 'entries' | 'differences') {
  const cell = ({ counts }: AuditRow) => <Count value={counts[id]} />
  return { id, name: t(`audit.${id}`), isNumber: true, cell }
}

function Books() {
  const { audit } = useSearch({ from: '/shell/audit' })
  const navigate = useNavigate({ from: '/audit' })
  return (
    <List
      of={auditList}
      list={useList(['audits', 'list'], readAudits)}
      title={t('audit.audits')}
      hint={t('audit.auditsHint')}
      actions={<RunAudit />}
      open={audit}
      onOpen={(id) =>
        void navigate({ search: { tab: 'books', ...(id !== undefined && { audit: id }) } })
      }
    />
  )
}

function RunAudit() {
  const client = useQueryClient()
  const mayRun = useMay('operator')
  const running = useMutation({
    mutationFn: () => bodyOf(api.POST('/admin/v1/audits')),
    onSuccess: ({ result, counts: { differences: count } }) =>
      announce(result === 'passed' ? t('audit.right') : t('audit.found', { count })),
    onSettled: () => client.invalidateQueries({ queryKey: ['audits'] }),
  })
  if (!mayRun) return null
  return (
    <>
      {running.error !== null && <Notice tone="bad">{describeFailure(running.error).title}</Notice>}
      <Button look="primary" isBusy={running.isPending} onClick={() => running.mutate()}>
        <BookCheck aria-hidden />
        {running.isPending ? t('audit.running') : t('audit.run')}
      </Button>
    </>
  )
}

const readAudit = (id: string) =>
  bodyOf(api.GET('/admin/v1/audits/{id}', { params: { path: { id } } }))

type Difference = Awaited<ReturnType<typeof readAudit>>['differences'][number]

const differenceList = defineList<Difference>({
  name: 'differences',
  caption: t('audit.differences'),
  rowKey: ({ invariant, kind, row, account_id: account }) =>
    [invariant, kind, row, account].join(' '),
  columns: [
    {
      id: 'account',
      name: t('audit.account'),
      cell: ({ account_id: account }) => <AccountLink id={account}>{account}</AccountLink>,
    },
    {
      id: 'difference',
      name: t('audit.difference'),
      isText: true,
      cell: ({ message }) => reworded(message),
    },
    { id: 'kind', name: t('audit.kind'), cell: ({ kind }) => kind },
    { id: 'row', name: t('audit.row'), cell: ({ row }) => <code className="break">{row}</code> },
  ],
  empty: null,
})

function AuditSheet({ id, row }: SheetProps<AuditRow>) {
  const query = useQuery({ queryKey: ['audits', id], queryFn: () => readAudit(id) })
  const time = query.data === undefined ? '' : formatTimeFully(new Date(query.data.at))
  return (
    <>
      <SheetHead title={t('audit.auditOf', { time })} />
      <Stack>
        <Shown query={query}>
          {({ result, error, counts, differences }) => (
            <>
              {result === 'not_run' && (
                <Notice tone="warn">{t('audit.notRun', { error: error ?? '' })}</Notice>
              )}
              {result === 'passed' && (
                <Notice tone="good">
                  {t('audit.clean', { ...counts, entries: String(counts.entries) })}
                </Notice>
              )}
              {differences.length > 0 && <List of={differenceList} list={{ rows: differences }} />}
            </>
          )}
        </Shown>
        {row !== undefined && <RowFacts row={row} columns={auditList.columns} />}
      </Stack>
    </>
  )
}

/** Reconciliation: compares a channel with the files of its vendor; the runs are kept and accepted. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { channelNamesQuery } from '../../api/names.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, Notice } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { FileField, type ChosenFile } from '../../ui/field.tsx'
import { textField } from '../../ui/form-fields.tsx'
import { NewForm } from '../../ui/form.tsx'
import { Stack } from '../../ui/layout.tsx'
import { useListAddress } from '../../ui/list/address.ts'
import { defineList } from '../../ui/list/define.ts'
import { Filters } from '../../ui/list/filters.tsx'
import { List } from '../../ui/list/list.tsx'
import { Page } from '../../ui/page.tsx'
import { periodOf } from '../../ui/range.ts'
import { daysText, RangePicker } from '../../ui/range.tsx'
import { describeFailure, Empty, Loading } from '../../ui/states.tsx'
import { Time, Usd, useNow } from '../../ui/values.tsx'
import { Actor } from '../audit/action-list.tsx'
import type { ReconciliationSearch } from './address.ts'
import { accept, readRuns, reconcile, type Run } from './queries.ts'
import { Sums } from './sums.tsx'

export function Reconciliation() {
  const mayReconcile = useMay('operator')
  return (
    <Page title={t('reconciliation.title')} hint={t('reconciliation.hint')}>
      {mayReconcile ? (
        <Comparison />
      ) : (
        <Card>
          <Empty title={t('reconciliation.notAllowed')}>{t('reconciliation.signInAs')}</Empty>
        </Card>
      )}
      <Runs />
    </Page>
  )
}

const presets = ['yesterday', '7d', '30d', 'thisMonth', 'lastMonth'] as const
/** All of it is in the records, which are kept for 30 days where `request_retention` says nothing else. */
const usual = '30d'

function Comparison() {
  const search = useSearch({ from: '/shell/reconciliation' })
  const { change } = useListAddress(search)
  const { channel = 'all', open: _, ...range } = search
  const { data: channels = [] } = useQuery(channelNamesQuery)
  const client = useQueryClient()
  const nowMs = useNow(null)
  const asking = useMutation({
    mutationFn: reconcile,
    onSuccess: () => client.invalidateQueries({ queryKey: ['reconciliations'] }),
  })
  const { rows: runs } = useList(['reconciliations'], readRuns)
  const ask = (changes: { readonly [Name in keyof ReconciliationSearch]?: string | undefined }) => {
    asking.reset()
    change(changes)
  }
  const { data: result } = asking
  const isAccepted = runs?.some(({ id, accepted_at: at }) => id === result?.id && at !== null)
  return (
    <>
      <Filters
        filters={[
          {
            kind: 'choice',
            name: 'channel',
            label: t('reconciliation.channel'),
            any: t('reconciliation.allChannels'),
            options: channels.map((name) => [name, name] as const),
          },
        ]}
        values={search}
        onChange={ask}
      >
        <RangePicker value={range} unit="day" presets={presets} usual={usual} onChange={ask} />
      </Filters>
      <Files
        asking={asking}
        onAsk={(files) =>
          asking.mutate({ channel, files, ...periodOf(range, { unit: 'day', nowMs, usual }) })
        }
      />
      {asking.isPending && <Loading rows={6} />}
      {result !== undefined && (
        <Sums
          result={result}
          actions={result.id !== null && isAccepted !== true && <AcceptButton id={result.id} />}
        />
      )}
    </>
  )
}

interface FilesProps {
  readonly asking: {
    readonly error: unknown
    readonly isPending: boolean
    readonly reset: () => void
  }
  readonly onAsk: (files: readonly ChosenFile[]) => void
}

/** Without a file it shows what the gateway expects. */
function Files({ asking: { error, isPending, reset }, onAsk }: FilesProps) {
  const [files, setFiles] = useState<readonly ChosenFile[]>([])
  return (
    <Card>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onAsk(files)
        }}
      >
        <Stack>
          <FileField
            label={t('reconciliation.files')}
            hint={t('reconciliation.filesHint')}
            accept=".csv,.json,text/csv,application/json"
            isMultiple
            onFiles={(chosen) => {
              reset()
              setFiles(chosen)
            }}
          />
          {error !== null && <Notice tone="bad">{describeFailure(error).title}</Notice>}
          <div>
            <Button type="submit" look="primary" isBusy={isPending}>
              {files.length === 0 ? t('reconciliation.show') : t('reconciliation.compare')}
            </Button>
          </div>
        </Stack>
      </form>
    </Card>
  )
}

function Runs() {
  const { list: address } = useListAddress(useSearch({ from: '/shell/reconciliation' }))
  return (
    <List
      of={runList}
      {...address}
      list={useList(['reconciliations'], readRuns)}
      title={t('reconciliation.runs')}
      hint={t('reconciliation.runsHint')}
    />
  )
}

const runList = defineList<Run>({
  name: 'reconciliations',
  caption: t('reconciliation.runs'),
  rowKey: ({ id }) => id,
  rowName: ({ channel }) => channel,
  columns: [
    {
      id: 'period',
      name: t('reconciliation.period'),
      place: 'name',
      cell: ({ from, to }) =>
        daysText({
          from: from.slice(0, 10),
          to: new Date(Date.parse(to) - 1).toISOString().slice(0, 10),
        }),
    },
    { id: 'channel', name: t('reconciliation.channel'), cell: ({ channel }) => channel },
    {
      id: 'bills',
      name: t('reconciliation.bills'),
      isNumber: true,
      cell: ({ vendor_usd: usd }) => <Usd value={usd} />,
    },
    {
      id: 'expected',
      name: t('reconciliation.expected'),
      isNumber: true,
      cell: ({ expected_usd: usd }) => <Usd value={usd} />,
    },
    {
      id: 'unexplained',
      name: t('reconciliation.unexplained'),
      isNumber: true,
      place: 'amount',
      cell: ({ difference_usd: usd }) => <Usd value={usd} signed />,
    },
    {
      id: 'files',
      name: t('reconciliation.files'),
      cell: ({ files }) =>
        files.map(({ name, sha256 }) => (
          <div key={sha256} data-tip={`SHA-256 ${sha256}`} className="break">
            {name === '' ? sha256.slice(0, 12) : name}
          </div>
        )),
    },
    { id: 'note', name: t('reconciliation.note'), cell: ({ note }) => note },
    {
      id: 'accepted',
      name: t('reconciliation.accepted'),
      place: 'state',
      cell: ({ accepted_by: by, accepted_by_name: name, accepted_at: at }) =>
        by === null ? (
          <Badge tone="warn">{t('reconciliation.open')}</Badge>
        ) : (
          <>
            <Actor id={by} name={name} /> <Time at={at} />
          </>
        ),
    },
    {
      id: 'run',
      name: t('reconciliation.run'),
      room: 'wide',
      cell: ({ actor, actor_name: name, at }) => (
        <>
          <Actor id={actor} name={name} /> <Time at={at} />
        </>
      ),
    },
    {
      id: 'accept',
      name: t('reconciliation.accept'),
      isAction: true,
      cell: ({ id, accepted_at: at }) => (at === null ? <AcceptButton key={id} id={id} /> : null),
    },
  ],
  empty: <Empty title={t('reconciliation.noRun')} />,
})

const fields = {
  note: textField(t('reconciliation.note'), {
    hint: t('reconciliation.noteHint'),
    input: { autoFocus: true },
  }),
}

function AcceptButton({ id }: { id: string }) {
  const mayAccept = useMay('operator')
  const [isAsking, setIsAsking] = useState(false)
  if (!mayAccept) return null
  return (
    <>
      <Button onClick={() => setIsAsking(true)}>{t('reconciliation.accept')}</Button>
      <Dialog
        title={t('reconciliation.acceptTitle')}
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
      >
        <NewForm
          fields={fields}
          action={t('reconciliation.accept')}
          send={({ draft }) => accept(id, draft.note)}
          toast={() => t('reconciliation.isAccepted')}
          refresh={[['reconciliations'], ['actions']]}
        />
      </Dialog>
    </>
  )
}

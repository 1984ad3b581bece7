/** Checks a channel now, and shows what each gateway has found for each model. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Badge, Notice } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { describeFailure, Loading } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Duration, Missing } from '../../ui/values.tsx'
import { checkChannel, type Check } from './changes.ts'
import type { ChannelDetail } from './queries.ts'
import { failureMeaning, remedyFor } from './states.ts'

type Result = Check['results'][number]
type ModelResult = Result['models'][number]

interface CheckDialogProps {
  readonly detail: ChannelDetail
  readonly onClose: () => void
}

export function CheckDialog({ detail, onClose }: CheckDialogProps) {
  const { name, check: kind, models } = detail
  const client = useQueryClient()
  const checking = useMutation({
    mutationFn: () => checkChannel(name),
    onSettled: () => client.invalidateQueries({ queryKey: ['channels'] }),
  })
  const [modelCount] = useState(Object.keys(models).length)
  const sent =
    kind === 'models'
      ? 'asks the vendor for its list of models'
      : `sends one small real request ${modelCount === 1 ? '' : `for each of ${modelCount} models`}`
  return (
    <Dialog
      title={`Check ${name}`}
      hint={`Each running gateway ${sent.trim()}, with the channel's credential. The vendor bills it to you. A channel that is off and works again returns at once.`}
      isOpen
      isWide
      onClose={onClose}
    >
      {checking.isPending && (
        <div role="status">
          <p className="soft">Waiting for the gateways, at most one minute…</p>
          <Loading rows={3} />
        </div>
      )}
      {checking.error !== null && (
        <Notice tone="bad">{describeFailure(checking.error).title}</Notice>
      )}
      {checking.data !== undefined && !checking.isPending && <Found check={checking.data} />}
      <footer className="dialog-foot">
        <Button onClick={onClose}>Close</Button>
        <Button look="primary" isBusy={checking.isPending} onClick={() => checking.mutate()}>
          {checking.data === undefined ? 'Check now' : 'Check again'}
        </Button>
      </footer>
    </Dialog>
  )
}

function Found({ check: { ok, gateways_asked: asked, results } }: { check: Check }) {
  return (
    <div className="stack" role="status">
      <Notice tone={ok ? 'good' : 'warn'}>
        {ok ? 'The channel works' : 'The channel does not fully work'}
        {asked === 0
          ? ', as seen from the gateway that answers this page: none is running on the store.'
          : `, as seen by ${asked} ${asked === 1 ? 'gateway' : 'gateways'}.`}
      </Notice>
      {results.map((result) => (
        <GatewayResult key={result.gateway?.id ?? ''} result={result} />
      ))}
    </div>
  )
}

function GatewayResult({ result: { gateway, reason, models } }: { result: Result }) {
  const name = gateway === null ? 'This gateway' : `${gateway.name} (${gateway.region})`
  return (
    <section className="channel-check">
      <h3>{name}</h3>
      {reason !== null && <p className="bad">{reason}</p>}
      {models.length > 0 && (
        <Table
          caption={`What ${name} has found`}
          columns={columns}
          rows={models}
          rowKey={({ model }) => model}
          rowTone={({ ok }) => (ok ? undefined : 'bad')}
        />
      )}
    </section>
  )
}

const columns: readonly Column<ModelResult>[] = [
  {
    name: 'Model',
    cell: ({ model }) => <span className="break">{model}</span>,
  },
  {
    name: 'Result',
    cell: ({ ok }) => <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'Works' : 'Failed'}</Badge>,
  },
  {
    name: 'Status',
    isNumber: true,
    cell: ({ status }) => status ?? <Missing why="No answer" />,
  },
  {
    name: 'Time',
    isNumber: true,
    cell: ({ duration_ms: ms }) => <Duration ms={ms} />,
  },
  { name: 'What it means', cell: (found) => <Meaning found={found} /> },
]

function Meaning({ found: { outcome, status } }: { found: ModelResult }) {
  const remedy = remedyFor(outcome === 'config' ? 'credential_refused' : outcome)
  return (
    <>
      {failureMeaning(outcome).text}
      {outcome === 'hard' && status === null && ' Check its address and the network.'}
      {remedy !== undefined && <div className="soft">{remedy.text}</div>}
    </>
  )
}

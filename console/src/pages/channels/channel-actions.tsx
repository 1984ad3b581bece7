/** What an operator can do with a channel: check it now, disable it, enable it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { CirclePause, CirclePlay, Stethoscope } from 'lucide-react'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/card.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { describeFailure } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { buildBoard, type ModelBoard } from './board.ts'
import { CheckDialog } from './check-dialog.tsx'
import { boardQuery, type ChannelDetail } from './queries.ts'

export function ChannelActions({ detail }: { detail: ChannelDetail }) {
  const mayOperate = useMay('operator')
  const [isChecking, setIsChecking] = useState(false)
  if (!mayOperate) return null
  return (
    <>
      <Button onClick={() => setIsChecking(true)}>
        <Stethoscope aria-hidden /> Check now
      </Button>
      {detail.enabled ? <DisableButton detail={detail} /> : <EnableButton detail={detail} />}
      {isChecking && <CheckDialog detail={detail} onClose={() => setIsChecking(false)} />}
    </>
  )
}

function useRefresh(): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await Promise.all(
      ['channels', 'overview', 'actions'].map((word) =>
        client.invalidateQueries({ queryKey: [word] }),
      ),
    )
  }
}

function DisableButton({ detail: { name: channel } }: { detail: ChannelDetail }) {
  const [isOpen, setIsOpen] = useState(false)
  const refresh = useRefresh()
  const disabling = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/admin/v1/channels/{channel}/off', {
          params: { path: { channel } },
        }),
      ),
    onSuccess() {
      setIsOpen(false)
      announce(`Channel ${channel} is disabled.`)
      return refresh()
    },
  })
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>
        <CirclePause aria-hidden /> Disable
      </Button>
      <Confirm
        title={`Disable ${channel}?`}
        action="Disable channel"
        isOpen={isOpen}
        isBusy={disabling.isPending}
        error={disabling.error}
        onConfirm={() => disabling.mutate()}
        onClose={() => {
          disabling.reset()
          setIsOpen(false)
        }}
      >
        <div className="stack">
          <p>
            Within a second, new requests go to other channels. Requests that run on it now are
            finished. No check enables it again: only an operator does.
          </p>
          {isOpen && <WithoutIt channel={channel} />}
        </div>
      </Confirm>
    </>
  )
}

/** Names the models that no other channel could serve now. */
function WithoutIt({ channel }: { channel: string }) {
  const { data } = useQuery(boardQuery)
  const models = data === undefined ? [] : buildBoard(data).filter((each) => needs(each, channel))
  if (models.length === 0) return null
  return (
    <Notice tone="warn">
      No other channel could serve{' '}
      {models.map(({ model }, index) => (
        <span key={model}>
          {index > 0 && ', '}
          <code>{model}</code>
        </span>
      ))}{' '}
      now. Requests for {models.length === 1 ? 'this model' : 'these models'} would fail.
    </Notice>
  )
}

function needs({ rows }: ModelBoard, channel: string): boolean {
  const isUsable = (row: ModelBoard['rows'][number]): boolean =>
    row.channel.health.some((health) => health.model === row.model && health.is_usable)
  return (
    rows.some((row) => row.channel.name === channel) &&
    !rows.some((row) => row.channel.name !== channel && isUsable(row))
  )
}

function EnableButton({ detail: { name: channel } }: { detail: ChannelDetail }) {
  const refresh = useRefresh()
  const enabling = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/admin/v1/channels/{channel}/on', {
          params: { path: { channel } },
        }),
      ),
    onSuccess() {
      announce(`Channel ${channel} is enabled.`)
      return refresh()
    },
    onError: (error) => announce(describeFailure(error).title),
  })
  return (
    <Button look="primary" isBusy={enabling.isPending} onClick={() => enabling.mutate()}>
      <CirclePlay aria-hidden /> Enable
    </Button>
  )
}

/** What an operator can do with a channel: check it now, disable it, enable it. */
import { useMutation } from '@tanstack/react-query'
import { CirclePause, CirclePlay, Stethoscope } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { describeFailure } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { switchChannel, useChannelRefresh } from './changes.ts'
import { CheckDialog } from './check-dialog.tsx'
import type { ChannelDetail } from './queries.ts'
import { WithoutThem } from './without-them.tsx'

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

function DisableButton({ detail: { name: channel } }: { detail: ChannelDetail }) {
  const [isOpen, setIsOpen] = useState(false)
  const refresh = useChannelRefresh()
  const disabling = useMutation({
    mutationFn: () => switchChannel(channel, 'off'),
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
          {isOpen && <WithoutThem channels={[channel]} />}
        </div>
      </Confirm>
    </>
  )
}

function EnableButton({ detail: { name: channel } }: { detail: ChannelDetail }) {
  const refresh = useChannelRefresh()
  const enabling = useMutation({
    mutationFn: () => switchChannel(channel, 'on'),
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

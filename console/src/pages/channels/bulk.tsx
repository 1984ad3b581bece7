/** Checks, disables or enables several channels after one question, and says which of them failed. */
import { useMutation } from '@tanstack/react-query'
import { CirclePause, CirclePlay, Stethoscope } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Badge } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { describeFailure } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { checkChannel, switchChannel, useChannelRefresh } from './changes.ts'
import type { Channel } from './queries.ts'
import { WithoutThem } from './without-them.tsx'

interface Work {
  /** The verb of the button. */
  readonly verb: string
  readonly done: string
  /** What it does, before it is done. */
  readonly text: string
  readonly isDanger?: true
  /** Returns what an operator has to know about the channel; undefined = all is well. */
  readonly run: (channel: string) => Promise<string | undefined>
}

const works = {
  check: {
    verb: 'Check',
    done: 'works',
    text: 'Each running gateway sends one small real request for each model, or asks for the list of models, as the channel says. The vendors bill them to you.',
    async run(channel) {
      const { ok } = await checkChannel(channel)
      return ok ? undefined : 'It does not fully work. Its page says why.'
    },
  },
  off: {
    verb: 'Disable',
    done: 'disabled',
    text: 'Within a second, new requests go to other channels. Requests that run on them now are finished. Only an operator enables them again.',
    isDanger: true,
    run: (channel) => switchChannel(channel, 'off').then(() => undefined),
  },
  on: {
    verb: 'Enable',
    done: 'enabled',
    text: 'They take requests again within a second.',
    run: (channel) => switchChannel(channel, 'on').then(() => undefined),
  },
} satisfies Record<string, Work>

type WorkName = keyof typeof works

interface BulkBarProps {
  /** Those that are selected and shown. */
  readonly channels: readonly Channel[]
  /** Whether they are all that are shown. */
  readonly isWhole: boolean
  readonly onAll: () => void
  readonly onNone: () => void
}

export function BulkBar({ channels, isWhole, onAll, onNone }: BulkBarProps) {
  const [asked, setAsked] = useState<WorkName>()
  const [names, setNames] = useState<readonly string[]>([])
  const ask = (work: WorkName, which: readonly Channel[]): void => {
    setNames(which.map(({ name }) => name))
    setAsked(work)
  }
  const enabled = channels.filter((channel) => channel.enabled)
  const disabled = channels.filter((channel) => !channel.enabled)
  return (
    <div className="channel-bulk" role="group" aria-label="Selected channels">
      <span className="soft" role="status">
        {channels.length === 0 ? 'None selected' : `${channels.length} selected`}
      </span>
      <Button look="quiet" onClick={isWhole ? onNone : onAll}>
        {isWhole ? 'Select none' : 'Select all'}
      </Button>
      <Button disabled={channels.length === 0} onClick={() => ask('check', channels)}>
        <Stethoscope aria-hidden /> Check
      </Button>
      <Button disabled={enabled.length === 0} onClick={() => ask('off', enabled)}>
        <CirclePause aria-hidden /> Disable
      </Button>
      <Button disabled={disabled.length === 0} onClick={() => ask('on', disabled)}>
        <CirclePlay aria-hidden /> Enable
      </Button>
      {asked !== undefined && (
        <BulkDialog work={works[asked]} names={names} onClose={() => setAsked(undefined)} />
      )}
    </div>
  )
}

interface Outcome {
  readonly name: string
  /** Undefined where all is well. */
  readonly fault: string | undefined
}

interface BulkDialogProps {
  readonly work: Work
  readonly names: readonly string[]
  readonly onClose: () => void
}

function BulkDialog({ work, names, onClose }: BulkDialogProps) {
  const refresh = useChannelRefresh()
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([])
  const running = useMutation({
    mutationFn: () =>
      inTurn(names, work, (outcome) => setOutcomes((before) => [...before, outcome])),
    onSettled: refresh,
    onSuccess(faults) {
      if (faults > 0) return
      announce(`${countOf(names.length)}: ${work.done}.`)
      onClose()
    },
  })
  const isOver = outcomes.length === names.length
  return (
    <Dialog
      title={`${work.verb} ${countOf(names.length)}?`}
      hint={work.text}
      isOpen
      onClose={onClose}
    >
      {work.isDanger === true && !isOver && <WithoutThem channels={names} />}
      <ul className="channel-outcomes" role={running.isIdle ? undefined : 'status'}>
        {names.map((name) => (
          <OutcomeLine
            key={name}
            name={name}
            outcome={outcomes.find((one) => one.name === name)}
            isRunning={running.isPending}
            done={work.done}
          />
        ))}
      </ul>
      <footer className="dialog-foot">
        <Button onClick={onClose}>{isOver ? 'Close' : 'Cancel'}</Button>
        {!isOver && (
          <Button
            look={work.isDanger === true ? 'danger' : 'primary'}
            isBusy={running.isPending}
            onClick={() => running.mutate()}
          >
            {work.verb}
          </Button>
        )}
      </footer>
    </Dialog>
  )
}

function OutcomeLine(props: {
  readonly name: string
  readonly outcome: Outcome | undefined
  readonly isRunning: boolean
  readonly done: string
}) {
  const { name, outcome, isRunning, done } = props
  return (
    <li>
      <span className="break">{name}</span>{' '}
      {outcome === undefined ? (
        isRunning && <span className="soft">waiting…</span>
      ) : (
        <Badge tone={outcome.fault === undefined ? 'good' : 'bad'}>
          {outcome.fault === undefined ? done : 'failed'}
        </Badge>
      )}
      {outcome?.fault !== undefined && <div className="soft">{outcome.fault}</div>}
    </li>
  )
}

/** A check may take a minute; more at once would only wait for each other at the gateways. */
const atOnceMax = 4

/** Does the work for each name, a few at once, and returns how many failed. */
async function inTurn(
  names: readonly string[],
  work: Work,
  onOutcome: (outcome: Outcome) => void,
): Promise<number> {
  const waiting = [...names]
  let faults = 0
  const runNext = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const fault = await work.run(name).catch((error: unknown) => describeFailure(error).title)
      if (fault !== undefined) faults += 1
      onOutcome({ name, fault })
    }
  }
  await Promise.all(Array.from({ length: atOnceMax }, runNext))
  return faults
}

function countOf(count: number): string {
  return `${count} ${count === 1 ? 'channel' : 'channels'}`
}

/** What an operator does with channels: check, disable and enable them, one or several after one question. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { CirclePause, CirclePlay, Stethoscope } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Notice } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { describeFailure } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { buildBoard, modelsWithout } from './board.ts'
import { CheckDialog } from './check-dialog.tsx'
import {
  boardQuery,
  checkChannel,
  switchChannel,
  useChannelRefresh,
  type Channel,
  type ChannelDetail,
} from './queries.ts'

/** Each returns what an operator has to know about the channel; undefined = all is well. */
const works = {
  async check(channel: string) {
    const { ok } = await checkChannel(channel)
    return ok ? undefined : t('channels.check.fault')
  },
  async off(channel: string) {
    await switchChannel(channel, 'off')
    return undefined
  },
  async on(channel: string) {
    await switchChannel(channel, 'on')
    return undefined
  },
} as const satisfies Record<string, (channel: string) => Promise<string | undefined>>

type Work = keyof typeof works

const icons = { check: Stethoscope, off: CirclePause, on: CirclePlay } as const

interface Asked {
  readonly work: Work
  readonly names: readonly string[]
}

/** Buttons for the channels that are chosen in a list. */
export function BulkButtons({ channels }: { channels: readonly Channel[] }) {
  const [asked, setAsked] = useState<Asked>()
  const button = (work: Work, which: readonly Channel[]) => {
    const Icon = icons[work]
    return (
      <Button
        disabled={which.length === 0}
        onClick={() => setAsked({ work, names: which.map(({ name }) => name) })}
      >
        <Icon aria-hidden /> {t(`channels.${work}.verb`)}
      </Button>
    )
  }
  return (
    <>
      {button('check', channels)}
      {button(
        'off',
        channels.filter(({ enabled }) => enabled),
      )}
      {button(
        'on',
        channels.filter(({ enabled }) => !enabled),
      )}
      {asked !== undefined && <WorkDialog {...asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

/** Buttons for one channel; enabling needs no question. */
export function ChannelActions({ detail }: { detail: ChannelDetail }) {
  const { name, enabled } = detail
  const mayOperate = useMay('operator')
  const refresh = useChannelRefresh()
  const [asked, setAsked] = useState<'check' | 'off'>()
  const enabling = useMutation({
    mutationFn: () => switchChannel(name, 'on'),
    onSuccess() {
      announce(t('channels.on.done', { count: 1, name }))
      return refresh()
    },
    onError: (error) => announce(describeFailure(error).title),
  })
  if (!mayOperate) return null
  const close = (): void => setAsked(undefined)
  return (
    <>
      <Button onClick={() => setAsked('check')}>
        <Stethoscope aria-hidden /> {t('channels.checkNow')}
      </Button>
      {enabled ? (
        <Button onClick={() => setAsked('off')}>
          <CirclePause aria-hidden /> {t('channels.off.verb')}
        </Button>
      ) : (
        <Button look="primary" isBusy={enabling.isPending} onClick={() => enabling.mutate()}>
          <CirclePlay aria-hidden /> {t('channels.on.verb')}
        </Button>
      )}
      {asked === 'check' && <CheckDialog detail={detail} onClose={close} />}
      {asked === 'off' && <WorkDialog work="off" names={[name]} onClose={close} />}
    </>
  )
}

interface Outcome {
  readonly name: string
  /** Undefined where all is well. */
  readonly fault: string | undefined
}

interface WorkDialogProps extends Asked {
  readonly onClose: () => void
}

/** Asks once, does the work for each channel, and says which of them failed. */
function WorkDialog({ work, names, onClose }: WorkDialogProps) {
  const refresh = useChannelRefresh()
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([])
  const [name = ''] = names
  const words = { count: names.length, name }
  const running = useMutation({
    mutationFn: () =>
      inTurn(names, works[work], (outcome) => setOutcomes((before) => [...before, outcome])),
    onSettled: refresh,
    onSuccess(faults) {
      if (faults > 0) return
      announce(t(`channels.${work}.done`, words))
      onClose()
    },
  })
  const isOver = outcomes.length === names.length
  return (
    <Dialog
      title={t(`channels.${work}.title`, words)}
      hint={t(`channels.${work}.text`)}
      isOpen
      onClose={onClose}
    >
      {work === 'off' && !isOver && <WithoutThem channels={names} />}
      {(names.length > 1 || outcomes.length > 0) && (
        <ul className="stack tight scroll" role={running.isIdle ? undefined : 'status'}>
          {names.map((each) => (
            <OutcomeLine
              key={each}
              name={each}
              outcome={outcomes.find((one) => one.name === each)}
              isRunning={running.isPending}
              good={t(`channels.${work}.good`)}
            />
          ))}
        </ul>
      )}
      <footer className="dialog-foot">
        <Button onClick={onClose}>{t(isOver ? 'channels.close' : 'channels.cancel')}</Button>
        {!isOver && (
          <Button
            look={work === 'off' ? 'danger' : 'primary'}
            isBusy={running.isPending}
            onClick={() => running.mutate()}
          >
            {t(`channels.${work}.action`, words)}
          </Button>
        )}
      </footer>
    </Dialog>
  )
}

interface OutcomeProps {
  readonly name: string
  readonly outcome: Outcome | undefined
  readonly isRunning: boolean
  readonly good: string
}

function OutcomeLine({ name, outcome, isRunning, good }: OutcomeProps) {
  if (outcome === undefined)
    return (
      <li>
        <span className="break">{name}</span>{' '}
        {isRunning && <span className="soft">{t('channels.waiting')}</span>}
      </li>
    )
  const { fault } = outcome
  return (
    <li>
      <span className="break">{name}</span>{' '}
      <Badge tone={fault === undefined ? 'good' : 'bad'}>
        {fault === undefined ? good : t('channels.failed')}
      </Badge>
      {fault !== undefined && <div className="soft">{fault}</div>}
    </li>
  )
}

/** A check may take a minute; more at once would only wait for each other at the gateways. */
const atOnceMax = 4

/** Does the work for each name, a few at once, and returns how many failed. */
async function inTurn(
  names: readonly string[],
  run: (channel: string) => Promise<string | undefined>,
  onOutcome: (outcome: Outcome) => void,
): Promise<number> {
  const waiting = [...names]
  let faults = 0
  const runNext = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const fault = await run(name).catch((error: unknown) => describeFailure(error).title)
      if (fault !== undefined) faults += 1
      onOutcome({ name, fault })
    }
  }
  await Promise.all(Array.from({ length: atOnceMax }, runNext))
  return faults
}

/** Names the models that no channel could serve while some channels are disabled. */
function WithoutThem({ channels }: { channels: readonly string[] }) {
  const { data } = useQuery(boardQuery)
  const models = data === undefined ? [] : modelsWithout(buildBoard(data), channels)
  if (models.length === 0) return null
  return (
    <Notice tone="warn">
      {t.rich('channels.noOther', {
        count: models.length,
        models: models.join(', '),
        code: (text) => <code>{text}</code>,
      })}
    </Notice>
  )
}

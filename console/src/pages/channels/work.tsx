/** What an operator does with channels: check, disable and enable them, one or several after one question. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { CirclePause, CirclePlay, Stethoscope } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { reworded, t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Notice } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Stack } from '../../ui/layout.tsx'
import { defineList } from '../../ui/list/define.ts'
import { ListTable } from '../../ui/list/list.tsx'
import { describeFailure, Loading } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { Duration, Missing } from '../../ui/values.tsx'
import { buildBoard, modelsWithout } from './board.ts'
import {
  boardQuery,
  checkChannel,
  switchChannel,
  useChannelRefresh,
  type Channel,
  type ChannelDetail,
  type Check,
} from './queries.ts'
import { failureMeaning, remedyFor } from './states.ts'

const icons = { check: Stethoscope, off: CirclePause, on: CirclePlay } as const
type Work = keyof typeof icons

/** Returns what an operator has to know about the channel; undefined = all is well. */
async function run(work: Work, channel: string): Promise<string | undefined> {
  if (work === 'check')
    return (await checkChannel(channel)).ok ? undefined : t('channels.check.fault')
  await switchChannel(channel, work)
  return undefined
}

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
  const [on, off] = [true, false].map((is) => channels.filter(({ enabled }) => enabled === is))
  return (
    <>
      {button('check', channels)}
      {button('off', on ?? [])}
      {button('on', off ?? [])}
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

interface WorkDialogProps extends Asked {
  readonly onClose: () => void
}

/** A check may take a minute; more at once would only wait for each other at the gateways. */
const atOnceMax = 4

/** Asks once, does the work for each channel, a few at once, and says which of them failed. */
function WorkDialog({ work, names, onClose }: WorkDialogProps) {
  const refresh = useChannelRefresh()
  /** What was found, by channel. */
  const [found, setFound] = useState<ReadonlyMap<string, string | undefined>>(new Map())
  const [name = ''] = names
  const words = { count: names.length, name }
  const running = useMutation({
    async mutationFn() {
      const outcomes = new Map<string, string | undefined>()
      const waiting = names.values()
      const runNext = async (): Promise<void> => {
        for (const each of waiting) {
          const fault = await run(work, each).catch((error) => describeFailure(error).title)
          setFound(new Map(outcomes.set(each, fault)))
        }
      }
      await Promise.all(Array.from({ length: atOnceMax }, runNext))
      return [...outcomes.values()].every((fault) => fault === undefined)
    },
    onSettled: refresh,
    onSuccess(isGood) {
      if (!isGood) return
      announce(t(`channels.${work}.done`, words))
      onClose()
    },
  })
  const isOver = found.size === names.length
  return (
    <Dialog
      title={t(`channels.${work}.title`, words)}
      hint={t(`channels.${work}.text`)}
      isOpen
      onClose={onClose}
    >
      {work === 'off' && !isOver && <WithoutThem channels={names} />}
      {(names.length > 1 || found.size > 0) && (
        <ul className="stack tight scroll" role={running.isIdle ? undefined : 'status'}>
          {names.map((each) => (
            <li key={each}>
              <span className="break">{each}</span>{' '}
              {found.has(each) ? (
                <Outcome work={work} fault={found.get(each)} />
              ) : (
                running.isPending && <span className="soft">{t('channels.waiting')}</span>
              )}
            </li>
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

function Outcome({ work, fault }: { work: Work; fault: string | undefined }) {
  if (fault === undefined) return <Badge tone="good">{t(`channels.${work}.good`)}</Badge>
  return (
    <>
      <Badge tone="bad">{t('channels.failed')}</Badge>
      <div className="soft">{fault}</div>
    </>
  )
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

type Result = Check['results'][number]
type ModelResult = Result['models'][number]

interface CheckDialogProps {
  readonly detail: ChannelDetail
  readonly onClose: () => void
}

/** Checks a channel now, and shows what each gateway has found for each model. */
function CheckDialog({ detail: { name, check, models }, onClose }: CheckDialogProps) {
  const refresh = useChannelRefresh()
  const checking = useMutation({ mutationFn: () => checkChannel(name), onSettled: refresh })
  const count = Object.keys(models).length
  const hint =
    check === 'models' ? t('channels.checking.byList') : t('channels.checking.byRequest', { count })
  return (
    <Dialog
      title={t('channels.checking.title', { name })}
      hint={`${hint} ${t('channels.checking.hint')}`}
      isOpen
      isWide
      onClose={onClose}
    >
      {checking.isPending && (
        <div role="status">
          <p className="soft">{t('channels.checking.wait')}</p>
          <Loading rows={3} />
        </div>
      )}
      {checking.error !== null && (
        <Notice tone="bad">{describeFailure(checking.error).title}</Notice>
      )}
      {checking.data !== undefined && !checking.isPending && <Found check={checking.data} />}
      <footer className="dialog-foot">
        <Button onClick={onClose}>{t('channels.close')}</Button>
        <Button look="primary" isBusy={checking.isPending} onClick={() => checking.mutate()}>
          {t(checking.data === undefined ? 'channels.checkNow' : 'channels.checkAgain')}
        </Button>
      </footer>
    </Dialog>
  )
}

function Found({ check: { ok, gateways_asked: asked, results } }: { check: Check }) {
  return (
    <Stack role="status">
      <Notice tone={ok ? 'good' : 'warn'}>
        {t(ok ? 'channels.checking.works' : 'channels.checking.fails', { count: asked })}
      </Notice>
      {results.map((result) => (
        <GatewayResult key={result.gateway?.id ?? ''} result={result} />
      ))}
    </Stack>
  )
}

function GatewayResult({ result: { gateway, reason, models } }: { result: Result }) {
  const name = gateway === null ? t('channels.thisGateway') : `${gateway.name} (${gateway.region})`
  return (
    <Stack as="section" isTight>
      <h3>{name}</h3>
      {reason !== null && <p className="bad">{reworded(reason)}</p>}
      {models.length > 0 && (
        <ListTable
          of={{ ...resultList, caption: t('channels.checking.found', { name }) }}
          rows={models}
        />
      )}
    </Stack>
  )
}

/** On a phone, too, its rows show all of it: nothing opens in a dialog. */
const resultList = defineList<ModelResult>({
  name: 'check-results',
  caption: '',
  rowKey: ({ model }) => model,
  rowTone: ({ ok }) => (ok ? undefined : 'bad'),
  isRoomy: true,
  columns: [
    { id: 'model', name: t('channels.model'), place: 'name', cell: ({ model }) => model },
    {
      id: 'result',
      name: t('channels.checking.result'),
      place: 'state',
      cell: ({ ok, status }) => (
        <>
          <Badge tone={ok ? 'good' : 'bad'}>
            {t(ok ? 'channels.checking.isGood' : 'channels.checking.isBad')}
          </Badge>{' '}
          <span data-tip={t('channels.checking.status')}>
            {status ?? <Missing why={t('channels.checking.noAnswer')} />}
          </span>
        </>
      ),
    },
    {
      id: 'time',
      name: t('channels.checking.time'),
      place: 'amount',
      isNumber: true,
      cell: ({ duration_ms: ms }) => <Duration ms={ms} />,
    },
    {
      id: 'meaning',
      name: t('channels.checking.meaning'),
      place: 'note',
      isText: true,
      cell: (found) => <Meaning found={found} />,
    },
  ],
  empty: null,
})

function Meaning({ found: { outcome, status } }: { found: ModelResult }) {
  const remedy = remedyFor(outcome === 'config' ? 'credential_refused' : outcome)
  return (
    <>
      {failureMeaning(outcome).text}
      {outcome === 'hard' && status === null && ` ${t('channels.checking.network')}`}
      {remedy !== undefined && <div className="soft">{remedy.text}</div>}
    </>
  )
}

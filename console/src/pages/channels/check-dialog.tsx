/** Checks a channel now, and shows what each gateway has found for each model. */
import { useMutation } from '@tanstack/react-query'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Notice } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Stack } from '../../ui/layout.tsx'
import { defineList } from '../../ui/list/define.ts'
import { ListTable } from '../../ui/list/list.tsx'
import { describeFailure, Loading } from '../../ui/states.tsx'
import { Duration, Missing } from '../../ui/values.tsx'
import { checkChannel, useChannelRefresh, type ChannelDetail, type Check } from './queries.ts'
import { failureMeaning, remedyFor } from './states.ts'

type Result = Check['results'][number]
type ModelResult = Result['models'][number]

interface CheckDialogProps {
  readonly detail: ChannelDetail
  readonly onClose: () => void
}

export function CheckDialog({ detail: { name, check, models }, onClose }: CheckDialogProps) {
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
      {reason !== null && <p className="bad">{reason}</p>}
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

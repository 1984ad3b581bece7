/** One channel: its states, figures, history and settings, and what an operator can do with it. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ListTree } from 'lucide-react'
import { Suspense } from 'react'
import { Problem } from '../../api/client.ts'
import { t } from '../../messages/t.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Notice } from '../../ui/card.tsx'
import { Page } from '../../ui/page.tsx'
import { Loading } from '../../ui/states.tsx'
import { Past } from '../audit/activity.tsx'
import { ChannelFigures } from './channel-figures.tsx'
import { ChannelSettings } from './channel-settings.tsx'
import { Changes, ModelHealth, PastStates } from './channel-states.tsx'
import { channelQuery, operatorsQuery, type ChannelDetail } from './queries.ts'
import { ChannelActions } from './work.tsx'
import './channels.css'

export function ChannelPage() {
  const { channel } = useParams({ from: '/shell/channels/$channel' })
  return (
    <Suspense fallback={<Loading rows={8} />}>
      <OneChannel key={channel} name={channel} />
    </Suspense>
  )
}

function OneChannel({ name }: { name: string }) {
  const { data: detail } = useSuspenseQuery({
    ...channelQuery(name),
    retry: (count, error) => count < 2 && error instanceof Problem && error.status === 0,
  })
  const trail = <Link to="/channels">{t('channels.title')}</Link>
  return (
    <Page
      title={detail.name}
      trail={trail}
      hint={`${detail.vendor} · ${t(detail.rank === 0 ? 'channels.mainRank' : 'channels.reserveRank', { rank: detail.rank })}`}
      actions={
        <>
          <Link to="/requests" search={{ channel: detail.name }} className={buttonClass()}>
            <ListTree aria-hidden /> {t('channels.requests')}
          </Link>
          <ChannelActions detail={detail} />
        </>
      }
    >
      <Standing detail={detail} />
      <ModelHealth detail={detail} />
      <PastStates detail={detail} />
      <ChannelFigures detail={detail} />
      <Changes detail={detail} />
      <ChannelSettings detail={detail} />
      <Past of={{ channel: detail.name }} />
    </Page>
  )
}

/** What stands above all models of the channel. */
function Standing({ detail: { enabled, is_live: isLive, history } }: { detail: ChannelDetail }) {
  const { data: operators } = useQuery({ ...operatorsQuery, enabled: !enabled })
  const actor = history.find(({ to }) => to === 'disabled')?.actor ?? undefined
  return (
    <>
      {!enabled && (
        <Notice tone="warn">
          {actor === undefined
            ? t('channels.isDisabled')
            : t('channels.isDisabledBy', { name: operators?.get(actor) ?? actor })}{' '}
          {t('channels.untilEnabled')}
        </Notice>
      )}
      {!isLive && <Notice tone="warn">{t('channels.notRunning')}</Notice>}
    </>
  )
}

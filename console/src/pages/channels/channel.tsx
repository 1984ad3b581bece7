/** One channel: its states, figures, history and settings, and what an operator can do with it. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { ListTree } from 'lucide-react'
import { Suspense } from 'react'
import { Problem } from '../../api/client.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Card, Notice } from '../../ui/card.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Loading } from '../../ui/states.tsx'
import { ChannelActions } from './channel-actions.tsx'
import { ChannelFigures } from './channel-figures.tsx'
import { ModelHealth } from './channel-health.tsx'
import { Changes, PastStates } from './channel-past.tsx'
import { ChannelSettings } from './channel-settings.tsx'
import { channelQuery, operatorsQuery, type ChannelDetail } from './queries.ts'
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
  const { range = 'day' } = useSearch({ from: '/shell/channels/$channel' })
  const { data: detail } = useSuspenseQuery({
    ...channelQuery(name),
    retry: (count, error) => count < 2 && error instanceof Problem && error.status === 0,
  })
  const trail = <Link to="/channels">Channels</Link>
  return (
    <Page
      title={detail.name}
      trail={trail}
      hint={
        <>
          {detail.vendor} · rank {detail.rank}
          {detail.rank === 0 ? ' (main route)' : ' (reserve)'}
        </>
      }
      actions={
        <>
          <Link to="/requests" search={{ channel: detail.name }} className={buttonClass()}>
            <ListTree aria-hidden /> Requests
          </Link>
          <ChannelActions detail={detail} />
        </>
      }
    >
      <Standing detail={detail} />
      <Card title="Models" hint="The state of each model on this channel, now" isFlush>
        {Object.keys(detail.models).length === 0 ? (
          <Empty title="This channel has no models." />
        ) : (
          <ModelHealth detail={detail} />
        )}
      </Card>
      <PastStates detail={detail} range={range} />
      <ChannelFigures detail={detail} />
      <Changes detail={detail} />
      <ChannelSettings detail={detail} />
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
          This channel is disabled
          {actor !== undefined && ` by ${operators?.get(actor) ?? actor}`}. It takes no requests
          until an operator enables it.
        </Notice>
      )}
      {!isLive && <Notice tone="warn">No gateway is running. You see the last known state.</Notice>}
    </>
  )
}

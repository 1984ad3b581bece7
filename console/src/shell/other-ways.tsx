/** Ways in besides a token: a provider where one is set up; safe addresses where no token may be typed. */
import { useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.ts'
import { t } from '../messages/t.ts'
import { Notice } from '../ui/card.tsx'
import { Prose } from '../ui/prose.tsx'
import { ProviderButton } from '../ui/provider.tsx'

export function OtherWays() {
  return window.isSecureContext ? <ProviderWay /> : <SafeWays />
}

function ProviderWay() {
  const { data } = useQuery({
    queryKey: ['provider'],
    queryFn: () => bodyOf(api.GET('/admin/v1/session/oidc')),
  })
  if (typeof data?.host !== 'string') return null
  const begin = () => bodyOf(api.POST('/admin/v1/session/oidc', { body: {} }))
  return <ProviderButton provider={data.host} begin={begin} />
}

/** Over plain http from another machine a token would cross the network in clear, so none is asked for. */
function SafeWays() {
  const port = location.port === '' ? '80' : location.port
  return (
    <Notice tone="warn">
      <p>{t('shell.signIn.insecure')}</p>
      <ul className="marked">
        <li>{t('shell.signIn.byProxy')}</li>
        <li>
          <Prose text={t('shell.signIn.byTunnel', { port, host: location.hostname })} />
        </li>
      </ul>
    </Notice>
  )
}

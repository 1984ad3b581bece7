/** How a request ended and how fast it was, as badges and words that the list and the request share. */
import { outcomeTones } from '../../figures/outcomes.ts'
import { t } from '../../messages/t.ts'
import { Badge } from '../../ui/card.tsx'
import { Missing } from '../../ui/values.tsx'
import { tokensPerSecond, type Outcome, type RequestInFull, type RequestLine } from './queries.ts'

export function OutcomeBadge({ of: outcome }: { of: Outcome }) {
  return <Badge tone={outcomeTones[outcome]}>{t(`requests.outcomes.${outcome}`)}</Badge>
}

export function Speed({ line }: { line: RequestLine }) {
  const speed = tokensPerSecond(line)
  if (speed === null) return <Missing why={t('requests.noSpeed')} />
  return <>{t('requests.perSecond', { count: Math.round(speed) })}</>
}

/** What reached the client. */
export function clientSaw(request: RequestInFull): string {
  const { outcome, stream, code, first_event_ms: first } = request
  const status = String(request.status)
  const error =
    code === null ? t('requests.gotStatus', { status }) : t('requests.gotCode', { status, code })
  const hasBegun = first !== null && (stream === true || request.status < 400)
  const ended = hasBegun ? t('requests.gotBeginning') : error
  switch (outcome) {
    case 'completed':
      return t('requests.gotAll', { status })
    case 'client_left':
      return first === null ? t('requests.gotNothing') : t('requests.leftBeforeEnd')
    case 'refused':
      return t('requests.gotVendorError', { status })
    case 'upstream_cut':
    case 'gateway_cut':
      return ended
    case 'failed':
      if (code === null) return t('requests.gotVendorError', { status })
      return first === null ? error : ended
    case 'not_admitted':
      return error
  }
}

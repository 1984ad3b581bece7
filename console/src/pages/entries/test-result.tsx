/** What one tiny request over a channel has brought back, and why a vendor has not served. */
import { reworded, t } from '../../messages/t.ts'
import { Notice } from '../../ui/card.tsx'
import { formatDuration, formatUsdExact } from '../../ui/format.ts'
import { failureMeaning, remedyFor } from '../channels/states.ts'
import type { Tested, VendorModels } from './requests.ts'

export function TestResult({ name, tested }: { name: string; tested: Tested }) {
  if (!tested.ok) return <NotReached name={name} reached={tested} />
  const { model, answered_model: answered, usage, cost_usd: cost, duration_ms: ms } = tested
  const words = [
    t('entries.test.answered', { model: answered ?? model ?? '', time: formatDuration(ms) }),
    usage && t('entries.test.tokens', { input: usage.input_tokens, output: usage.output_tokens }),
    cost === null
      ? t('entries.test.costUnknown')
      : t('entries.test.cost', { amount: formatUsdExact(cost) }),
    tested.cost_note && reworded(tested.cost_note),
  ]
  return (
    <Notice tone="good">
      <strong>{t('entries.test.works', { name })}</strong>{' '}
      {words.filter((word) => word !== null).join('; ')}.
    </Notice>
  )
}

type Reached = Pick<VendorModels, 'outcome' | 'status' | 'reason' | 'error'>

/** Why a vendor has not served, in words. */
export function NotReached({ name, reached }: { name: string; reached: Reached }) {
  const { outcome, status, reason, error } = reached
  const said = [error?.type, error?.code, error?.param].filter((word) => typeof word === 'string')
  const remedy = remedyFor(outcome === 'config' ? 'credential_refused' : outcome)
  return (
    <Notice tone="bad">
      <strong>{t('entries.test.fails', { name })}</strong>{' '}
      {reason === null ? failureMeaning(outcome).text : reworded(reason)}{' '}
      {status !== null &&
        t('entries.test.status', { status: String(status), said: said.join(', ') || 'none' })}
      {remedy !== undefined && <div>{remedy.text}</div>}
    </Notice>
  )
}

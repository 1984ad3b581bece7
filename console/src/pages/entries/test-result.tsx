/** What one tiny request over a channel has brought back, and what it cost. */
import { Notice } from '../../ui/card.tsx'
import { formatDuration, formatUsdExact } from '../../ui/format.ts'
import { failureMeaning, remedyFor } from '../channels/states.ts'
import type { Tested, VendorModels } from './requests.ts'

export function TestResult({ name, tested }: { name: string; tested: Tested }) {
  if (!tested.ok) return <NotReached name={name} reached={tested} />
  const { model, answered_model: answered, usage, cost_usd: cost, duration_ms: ms } = tested
  return (
    <Notice tone="good">
      <strong>{name} works.</strong> {answered ?? model} answered in {formatDuration(ms)}
      {usage !== null &&
        ` with ${usage.input_tokens} input and ${usage.output_tokens} output tokens`}
      {cost === null ? '; its cost is not known' : `; it cost ${formatUsdExact(cost)}`}
      {tested.cost_note !== null && ` (${tested.cost_note})`}.
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
      <strong>{name} does not work.</strong> {reason ?? failureMeaning(outcome).text}
      {status !== null && ` The vendor answered ${status}`}
      {said.length > 0 && ` (${said.join(', ')})`}
      {status !== null && '.'}
      {remedy !== undefined && <div>{remedy.text}</div>}
    </Notice>
  )
}

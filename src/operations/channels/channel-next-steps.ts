/**
 * The next steps of a model on a channel: those of an operator, and those that the gateway takes by itself,
 * and when. Pure.
 */
import { z } from 'zod'
import { moment, type Answer } from '../answer-forms.ts'

export const nextStepForm = z.strictObject({
  by: z.enum(['operator', 'gateway']),
  kind: z
    .enum([
      'enable',
      'credential_refused',
      'certificate_expired',
      'certificate_refused',
      'address_refused',
      'no_credit',
      'model_missing',
      'requests_again',
      'next_request',
      'full_share',
      'measured_again',
      'trial_request',
      'probe',
    ])
    .meta({ description: 'The word for it; `text` says it in English.' }),
  text: z.string(),
  how: z.string().nullable().meta({ description: 'How the operator does it.' }),
  at: moment.nullable().meta({ description: 'When the gateway does it; null = no time is set.' }),
})

type NextStep = Answer<typeof nextStepForm>

interface Shown {
  readonly state: string
  readonly why: string
  readonly rests_until: string | null
  readonly wakes_at: string | null
}

interface Surroundings {
  /** How the channel is checked. */
  readonly check: string
  readonly isLive: boolean
  readonly nowMs: number
}

/** The reasons for which a channel stays off until an operator acts. */
const remedies: Readonly<Record<string, Pick<NextStep, 'kind' | 'text' | 'how'>>> = {
  credential_refused: {
    kind: 'credential_refused',
    text: 'Correct the credential',
    how: 'Put a valid credential into the catalogue, then check the channel.',
  },
  certificate_expired: {
    kind: 'certificate_expired',
    text: 'Have the certificate renewed',
    how: 'Ask the vendor to renew its certificate, and check the clock of the gateway.',
  },
  certificate_refused: {
    kind: 'certificate_refused',
    text: 'Correct the address, or trust the authority',
    how: "Check the channel's address and the name servers; NODE_EXTRA_CA_CERTS adds an authority.",
  },
  address_refused: {
    kind: 'address_refused',
    text: 'Correct the address',
    how: "Check the channel's address and the name servers, or set allow_private.",
  },
  no_credit: {
    kind: 'no_credit',
    text: 'Buy credit',
    how: 'Buy credit or raise the limit at the vendor, then check the channel.',
  },
  model_missing: {
    kind: 'model_missing',
    text: 'Correct the model',
    how: "Correct the vendor's name for the model in the catalogue.",
  },
}

const enabling: NextStep = {
  by: 'operator',
  kind: 'enable',
  text: 'Enable the channel',
  how: 'It takes requests again as soon as an operator enables it.',
  at: null,
}

/** The operator's step comes first. None where nothing is due. */
export function nextStepsOf(health: Shown, around: Surroundings): readonly NextStep[] {
  if (health.state === 'disabled') return [enabling]
  if (!around.isLive) return []
  const remedy = health.state === 'off' ? remedies[health.why] : undefined
  const own = ownStep(health, around)
  const steps: NextStep[] = []
  if (remedy !== undefined) steps.push({ by: 'operator', ...remedy, at: null })
  if (own !== undefined) steps.push({ by: 'gateway', how: null, ...own })
  return steps
}

function ownStep(
  { state, rests_until: restsUntil, wakes_at: wakesAt }: Shown,
  { check, nowMs }: Surroundings,
): Pick<NextStep, 'kind' | 'text' | 'at'> | undefined {
  const isInUse = state === 'on' || state === 'ramp' || state === 'slow'
  if (isInUse && restsUntil !== null && Date.parse(restsUntil) > nowMs)
    return { kind: 'requests_again', text: 'Requests again', at: restsUntil }
  if (state === 'trial' && wakesAt === null)
    return { kind: 'next_request', text: 'The next request decides', at: null }
  if (state === 'ramp') return { kind: 'full_share', text: 'Full share', at: wakesAt }
  if (state === 'slow') return { kind: 'measured_again', text: 'Measured again', at: wakesAt }
  if (state === 'on' && wakesAt === null) return undefined
  return check === 'none'
    ? { kind: 'trial_request', text: 'Trial with one request', at: wakesAt }
    : { kind: 'probe', text: 'Probe', at: wakesAt }
}

/** What to do in a new installation until the first request, with links to the pages where it is done. */
import { useQuery } from '@tanstack/react-query'
import { Link, linkOptions } from '@tanstack/react-router'
import { Circle, CircleCheck } from 'lucide-react'
import { buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { startQuery, type Overview } from './queries.ts'

/** Returns whether no request has come yet; false while that is not known. */
export function useIsNew({ today, yesterday }: Overview): boolean {
  const isQuiet = today.requests === 0 && yesterday.requests === 0
  const { data } = useQuery({ ...startQuery, enabled: isQuiet })
  return isQuiet && data !== undefined && !data.hasRequest
}

export function FirstSteps() {
  const { data } = useQuery(startQuery)
  if (data === undefined) return null
  const { hasChannel, account } = data
  const steps = [
    {
      name: 'Connect a vendor',
      advice: 'Write a channel with its credential into the catalogue.',
      isDone: hasChannel,
      action: 'Open catalogue',
      page: linkOptions({ to: '/models', search: { tab: 'catalogue' } }),
    },
    {
      name: 'Make an account',
      advice: 'It holds the balance that pays for its requests.',
      isDone: account !== undefined,
      action: 'Open accounts',
      page: linkOptions({ to: '/accounts' }),
    },
    {
      name: 'Make a key and send a request',
      advice:
        'The page of the account makes keys, with lines to copy. The request appears here within seconds.',
      isDone: false,
      action: account === undefined ? 'Open accounts' : 'Open account',
      page:
        account === undefined
          ? linkOptions({ to: '/accounts' })
          : linkOptions({ to: '/accounts/$account', params: { account } }),
    },
  ]
  const next = steps.find(({ isDone }) => !isDone)
  return (
    <Card title="First steps" hint="No request has come yet" isFlush>
      <ol className="attention">
        {steps.map((step) => (
          <li key={step.name}>
            {step.isDone ? (
              <CircleCheck className="good" aria-label="done" />
            ) : (
              <Circle className="soft" aria-label="to do" />
            )}
            <div>
              <p className="attention-title">{step.name}</p>
              <p className="soft">{step.advice}</p>
            </div>
            {step === next && (
              <Link {...step.page} className={buttonClass('primary')}>
                {step.action}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </Card>
  )
}

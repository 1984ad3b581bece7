/** What to do in a new installation until the first request, with links to the pages where it is done. */
import { useQuery } from '@tanstack/react-query'
import { Link, linkOptions } from '@tanstack/react-router'
import { Circle, CircleCheck } from 'lucide-react'
import { t } from '../../messages/t.ts'
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
      name: t('overview.connectVendor'),
      advice: t('overview.connectVendorAdvice'),
      isDone: hasChannel,
      action: t('overview.openCatalogue'),
      page: linkOptions({ to: '/models', search: { tab: 'catalogue' } }),
    },
    {
      name: t('overview.makeAccount'),
      advice: t('overview.makeAccountAdvice'),
      isDone: account !== undefined,
      action: t('overview.openAccounts'),
      page: linkOptions({ to: '/accounts' }),
    },
    {
      name: t('overview.makeKey'),
      advice: t('overview.makeKeyAdvice'),
      isDone: false,
      action: account === undefined ? t('overview.openAccounts') : t('overview.openAccount'),
      page:
        account === undefined
          ? linkOptions({ to: '/accounts' })
          : linkOptions({ to: '/accounts/$account', params: { account } }),
    },
  ]
  const next = steps.find(({ isDone }) => !isDone)
  return (
    <Card title={t('overview.firstSteps')} hint={t('overview.noRequestYet')} isFlush>
      <ol className="attention">
        {steps.map((step) => (
          <li key={step.name}>
            {step.isDone ? (
              <CircleCheck className="good" aria-label={t('overview.done')} />
            ) : (
              <Circle className="soft" aria-label={t('overview.toDo')} />
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

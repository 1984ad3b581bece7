/** Alerts about an account that are firing. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../ui/button.tsx'
import { Badge, Card } from '../../ui/card.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Age } from '../../ui/values.tsx'
import { firingQuery, type Account } from './queries.ts'

export function AlertsTab({ account }: { account: Account }) {
  const { data, error, refetch } = useQuery(firingQuery(account.id))
  return (
    <Card
      title="Firing"
      hint="Alerts about this account that are not over"
      isFlush
      actions={
        <Link to="/alerts" className={buttonClass()}>
          All alerts
        </Link>
      }
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={2} />}
      {data?.length === 0 && <Empty title="No alert is firing." />}
      {data !== undefined && data.length > 0 && (
        <ul className="account-alerts">
          {data.map(({ id, severity, title, text, fired_at: at }) => (
            <li key={id}>
              <Badge tone={severity === 'critical' ? 'bad' : 'warn'}>{severity}</Badge>
              <div>
                <p className="account-alert-title">{title}</p>
                <p className="soft break">{text}</p>
              </div>
              <span className="soft account-alert-age">
                <Age at={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

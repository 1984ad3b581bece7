/** Alerts about an account that are firing. */
import { Link } from '@tanstack/react-router'
import { useList } from '../../api/list.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Badge, Card } from '../../ui/card.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Age } from '../../ui/values.tsx'
import { readFiringOf, type Account } from './queries.ts'

export function AlertsTab({ account: { id: account } }: { account: Account }) {
  const { rows, error, retry } = useList(['alerts', 'firing', account], readFiringOf(account))
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
      {rows === undefined && error === null && <Loading rows={2} />}
      {error !== null && <Failure error={error} onRetry={retry} />}
      {rows?.length === 0 && <Empty title="No alert is firing." />}
      {rows !== undefined && rows.length > 0 && (
        <ul className="account-alerts">
          {rows.map(({ id, severity, title, text, first_seen_at: at }) => (
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

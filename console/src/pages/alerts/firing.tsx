/** The alerts that are firing, with their text and the page where they are dealt with. */
import { Link } from '@tanstack/react-router'
import { useList } from '../../api/list.ts'
import { Badge, Card } from '../../ui/card.tsx'
import { List } from '../../ui/list.tsx'
import { Empty } from '../../ui/states.tsx'
import { Age } from '../../ui/values.tsx'
import { severityTones } from './kinds.ts'
import { readFiring, type Firing as FiringAlert } from './queries.ts'

export function Firing() {
  const list = useList(['alerts', 'firing'], readFiring)
  return (
    <Card isFlush>
      <List
        caption="Alerts that are firing"
        list={list}
        rowKey={({ id }) => id}
        rowTone={({ severity }) =>
          ({ critical: 'bad' as const, warning: 'warn' as const, info: undefined })[severity]
        }
        empty={
          <Empty title="No alert is firing.">Alerts appear here when a condition begins.</Empty>
        }
        columns={[
          {
            name: 'Severity',
            cell: ({ severity }) => <Badge tone={severityTones[severity]}>{severity}</Badge>,
          },
          {
            name: 'Alert',
            cell: ({ title, text }) => (
              <div className="alert-text">
                <strong>{title}</strong>
                <p className="soft">{text}</p>
              </div>
            ),
          },
          { name: 'About', cell: (alert) => <SubjectLink alert={alert} /> },
          { name: 'Since', cell: ({ fired_at: at }) => <Age at={at} /> },
        ]}
      />
    </Card>
  )
}

/** Leads to the page where the alert is dealt with. */
function SubjectLink({ alert }: { alert: FiringAlert }) {
  const { account_id: account, channel, subject, facts } = alert
  if (channel !== null)
    return (
      <Link to="/channels/$channel" params={{ channel }}>
        {channel}
      </Link>
    )
  if (account !== null)
    return (
      <Link to="/accounts/$account" params={{ account }}>
        {textOf(facts['account']) ?? subject}
      </Link>
    )
  const model = textOf(facts['model'])
  if (model !== undefined)
    return (
      <Link to="/channels" search={{ model }}>
        {model}
      </Link>
    )
  const audit = textOf(facts['audit'])
  if (audit !== undefined)
    return (
      <Link to="/audit" search={{ tab: 'books', audit }}>
        The audit
      </Link>
    )
  return <>{subject}</>
}

function textOf(fact: FiringAlert['facts'][string] | undefined): string | undefined {
  return typeof fact === 'string' ? fact : undefined
}

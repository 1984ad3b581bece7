/** What needs an operator, in order of urgency, each with its one next step. */
import { Link } from '@tanstack/react-router'
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Age } from '../../ui/values.tsx'
import type { Overview } from './queries.ts'

type Item = Overview['attention']['next'][number]

const shownAtFirst = 5
const icons = { critical: CircleAlert, warning: TriangleAlert, info: Info }
const tones = { critical: 'bad', warning: 'warn', info: 'soft' }

export function Attention({ items }: { items: readonly Item[] }) {
  const [isOpen, setIsOpen] = useState(false)
  if (items.length === 0)
    return (
      <Card>
        <p className="all-well">
          <CircleCheck className="good" aria-hidden /> Nothing needs your attention.
        </p>
      </Card>
    )
  const shown = isOpen ? items : items.slice(0, shownAtFirst)
  const hidden = items.length - shown.length
  return (
    <Card title="Needs attention" hint={countOf(items)} isFlush>
      <ul className="attention">
        {shown.map((item, index) => (
          <AttentionRow key={`${item.kind} ${index}`} item={item} />
        ))}
      </ul>
      {hidden > 0 && (
        <div className="attention-more">
          <Button look="quiet" onClick={() => setIsOpen(true)}>
            Show {hidden} more
          </Button>
        </div>
      )}
    </Card>
  )
}

function countOf(items: readonly Item[]): string {
  const critical = items.filter(({ severity }) => severity === 'critical').length
  const total = `${items.length} ${items.length === 1 ? 'thing' : 'things'}`
  return critical === 0 ? total : `${total}, ${critical} critical`
}

function AttentionRow({ item }: { item: Item }) {
  const Icon = icons[item.severity]
  return (
    <li>
      <Icon className={tones[item.severity]} aria-label={item.severity} />
      <div>
        <p className="attention-title">{item.title}</p>
        <p className="soft">
          {item.step}
          {item.since !== null && (
            <>
              {' '}
              · since <Age at={item.since} />
            </>
          )}
        </p>
      </div>
      <NextPage item={item} />
    </li>
  )
}

/** The page where the next step is done. */
function NextPage({ item: { account_id: account, channel, kind } }: { item: Item }) {
  if (channel !== null)
    return (
      <Link to="/channels/$channel" params={{ channel }} className={buttonClass()}>
        Open channel
      </Link>
    )
  if (account !== null)
    return (
      <Link to="/accounts/$account" params={{ account }} className={buttonClass()}>
        Open account
      </Link>
    )
  if (kind.includes('audit'))
    return (
      <Link to="/audit" className={buttonClass()}>
        Open audit
      </Link>
    )
  return (
    <Link to="/alerts" className={buttonClass()}>
      Open alerts
    </Link>
  )
}

/** What needs an operator, in order of urgency, each with its one next step. */
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Age } from '../../ui/values.tsx'
import { NextPage } from './next-page.tsx'
import type { Overview } from './queries.ts'

type Item = Overview['attention']['next'][number]

const shownAtFirst = 5
/** A step that is one command: the button beside it does the same. */
const command = 'turnpike '
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
  const advice = item.step.startsWith(command) ? undefined : item.step
  return (
    <li>
      <Icon className={tones[item.severity]} aria-label={item.severity} />
      <div>
        <p className="attention-title">{item.title}</p>
        <p className="soft">
          {item.since !== null && <Age at={item.since} />}
          {item.since !== null && advice !== undefined && ' · '}
          {advice}
        </p>
      </div>
      <NextPage item={item} />
    </li>
  )
}

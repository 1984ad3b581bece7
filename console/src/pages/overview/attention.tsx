/** What needs an operator, in order of urgency, each with the page where its one next step is done. */
import { Link, linkOptions } from '@tanstack/react-router'
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { said, t, type Facts } from '../../messages/t.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Age } from '../../ui/values.tsx'
import { reasonText } from '../channels/states.ts'
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
        <p className="row attention-title">
          <CircleCheck className="good" aria-hidden /> {t('overview.allWell')}
        </p>
      </Card>
    )
  const shown = isOpen ? items : items.slice(0, shownAtFirst)
  const hidden = items.length - shown.length
  const critical = items.filter(({ severity }) => severity === 'critical').length
  const count = items.length
  return (
    <Card
      title={t('overview.attention')}
      hint={
        critical === 0
          ? t('overview.things', { count })
          : t('overview.thingsCritical', { count, critical })
      }
      isFlush
    >
      <ul className="attention">
        {shown.map((item, index) => (
          <AttentionRow key={`${item.kind} ${index}`} item={item} />
        ))}
      </ul>
      {hidden > 0 && (
        <div className="attention-more">
          <Button look="quiet" onClick={() => setIsOpen(true)}>
            {t('overview.showMore', { count: hidden })}
          </Button>
        </div>
      )}
    </Card>
  )
}

function AttentionRow({ item }: { item: Item }) {
  const mayChange = useMay('operator')
  const Icon = icons[item.severity]
  const { kind, title, facts, step } = item
  const advice = step.startsWith(command) ? undefined : said(`alerts.${kind}.step`, step, facts)
  const [action, page] = nextPageOf(item)
  return (
    <li>
      <Icon
        className={tones[item.severity]}
        aria-label={t(`overview.severities.${item.severity}`)}
      />
      <div>
        <p className="attention-title">{said(`alerts.${kind}.title`, title, wordsOf(facts))}</p>
        <p className="soft">
          {item.since !== null && <Age at={item.since} />}
          {item.since !== null && advice !== undefined && ' · '}
          {advice}
        </p>
      </div>
      <Link {...page} className={buttonClass()}>
        {(mayChange ? changeOf(item.kind) : undefined) ?? action}
      </Link>
    </li>
  )
}

/** The reason of a channel's state is a word. */
function wordsOf({ why, ...facts }: Facts): Facts {
  return typeof why === 'string' && why !== '' ? { ...facts, why: reasonText(why) } : facts
}

/** What an operator does there; others look. */
function changeOf(kind: Item['kind']): string | undefined {
  if (kind.startsWith('account.') && kind.endsWith('_limit_reached'))
    return t('overview.raiseLimit')
  if (kind === 'key.limit_reached') return t('overview.raiseLimit')
  return kind.startsWith('account.') ? t('overview.bookCredit') : undefined
}

/** The page of the next step, and what a link to it says. */
function nextPageOf({ kind, account_id: account, channel, model, audit_id: audit }: Item) {
  if (channel !== null)
    return [
      t('overview.openChannel'),
      linkOptions({ to: '/channels/$channel', params: { channel } }),
    ] as const
  if (account !== null)
    return [
      t('overview.openAccount'),
      linkOptions({ to: '/accounts/$account', params: { account } }),
    ] as const
  if (model !== null)
    return [t('overview.seeChannels'), linkOptions({ to: '/channels', search: { model } })] as const
  if (kind === 'ledger.audit_failed') {
    const search = { tab: 'books', ...(audit !== null && { audit }) } as const
    return [t('overview.seeDifferences'), linkOptions({ to: '/audit', search })] as const
  }
  return settingsTabs[kind] ?? ([t('overview.openAlerts'), linkOptions({ to: '/alerts' })] as const)
}

const gateways = [
  t('overview.openGateways'),
  linkOptions({ to: '/settings', search: { tab: 'gateways' } }),
] as const
const backups = [
  t('overview.openBackups'),
  linkOptions({ to: '/settings', search: { tab: 'backups' } }),
] as const
const settingsTabs: Readonly<Record<string, typeof gateways | typeof backups>> = {
  'store.outage': gateways,
  'node.unclean_stop': gateways,
  'backup.too_old': backups,
}

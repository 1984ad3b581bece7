/** The page where the next step of something that needs attention is done. */
import { Link, linkOptions } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import { buttonClass } from '../../ui/button.tsx'
import type { Overview } from './queries.ts'

type Item = Overview['attention']['next'][number]

/** What an operator does there; others look. */
const changes: Readonly<Record<string, string>> = {
  'account.exhausted': 'Book a credit',
  'account.running_out': 'Book a credit',
  'account.balance_low': 'Book a credit',
  'account.short': 'Book a credit',
  'account.daily_limit_reached': 'Raise the limit',
  'account.monthly_limit_reached': 'Raise the limit',
  'key.limit_reached': 'Raise the limit',
}

export function NextPage({ item }: { item: Item }) {
  const mayChange = useMay('operator')
  const { action, page } = nextPageOf(item)
  return (
    <Link {...page} className={buttonClass()}>
      {(mayChange ? changes[item.kind] : undefined) ?? action}
    </Link>
  )
}

function nextPageOf({ kind, account_id: account, channel, model, audit_id: audit }: Item) {
  if (channel !== null)
    return {
      action: 'Open channel',
      page: linkOptions({ to: '/channels/$channel', params: { channel } }),
    }
  if (account !== null)
    return {
      action: 'Open account',
      page: linkOptions({ to: '/accounts/$account', params: { account } }),
    }
  if (model !== null)
    return {
      action: 'See its channels',
      page: linkOptions({ to: '/channels', search: { model } }),
    }
  if (kind === 'ledger.audit_failed')
    return {
      action: 'See differences',
      page: linkOptions({
        to: '/audit',
        search: { tab: 'books', ...(audit !== null && { audit }) },
      }),
    }
  if (kind === 'backup.too_old')
    return {
      action: 'Open backups',
      page: linkOptions({ to: '/settings', search: { tab: 'backups' } }),
    }
  if (kind === 'store.outage' || kind === 'node.unclean_stop')
    return {
      action: 'Open gateways',
      page: linkOptions({ to: '/settings', search: { tab: 'gateways' } }),
    }
  return { action: 'Open alerts', page: linkOptions({ to: '/alerts' }) }
}

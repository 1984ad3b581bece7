/**
 * The entries of the palette: pages, actions, and what the gateway finds. Pure: what opens an entry is its
 * link.
 */
import type { LinkProps } from '@tanstack/react-router'
import type { paths } from '../../api/schema.ts'
import { t } from '../../messages/t.ts'
import type { Role } from '../../api/session.ts'
import { sections } from '../sections.ts'

type SearchAnswer =
  paths['/admin/v1/search']['post']['responses']['200']['content']['application/json']
type Hit = SearchAnswer['items'][number]

export interface Entry {
  /** Unique in the palette. */
  readonly id: string
  readonly kind: Hit['kind'] | 'page' | 'action'
  readonly name: string
  /** Beside the name. */
  readonly detail: string
  readonly link: Pick<LinkProps, 'to' | 'params' | 'search'>
}

/** By its words: the least role that may do it, and where it is done. */
const actions = {
  newAccount: ['operator', { to: '/accounts', search: { new: true } }],
  applyCatalogue: ['owner', { to: '/models', search: { tab: 'catalogue' } }],
  importPrices: ['owner', { to: '/models', search: { tab: 'import' } }],
  revokeLeaked: ['operator', { to: '/keys', search: {} }],
  failedYesterday: ['viewer', { to: '/requests', search: { range: 'yesterday', status: '5xx' } }],
  lowBalance: ['viewer', { to: '/accounts', search: { status: 'low' } }],
  trouble: ['viewer', { to: '/channels', search: { state: 'trouble' } }],
  alertTargets: ['viewer', { to: '/alerts', search: { tab: 'targets' } }],
  actions: ['viewer', { to: '/audit', search: { tab: 'actions' } }],
  backups: ['owner', { to: '/settings', search: { tab: 'backups' } }],
  access: ['viewer', { to: '/settings', search: { tab: 'access' } }],
  doctor: ['operator', { to: '/settings', search: { tab: 'doctor' } }],
} as const satisfies Readonly<Record<string, readonly [Role, Entry['link']]>>

/** Pages and actions. */
const own: readonly (Omit<Entry, 'id'> & { readonly role: Role })[] = [
  ...sections.map(({ to, name, letter }) => ({
    kind: 'page' as const,
    name,
    detail: `g ${letter}`,
    link: { to },
    role: 'viewer' as const,
  })),
  ...(Object.keys(actions) as (keyof typeof actions)[]).map((word) => {
    const [role, link] = actions[word]
    return { kind: 'action' as const, name: t(`shell.actions.${word}`), detail: '', link, role }
  }),
]

interface Asked {
  readonly text: string
  readonly may: (role: Role) => boolean
  /** What the gateway has found. */
  readonly found: readonly Hit[]
}

/** Pages and actions that begin with the text, what was found, then those that have it inside. */
export function entriesFor({ text, may, found }: Asked): readonly Entry[] {
  const entries = own
    .filter(({ role }) => may(role))
    .map((entry) => ({ ...entry, id: `${entry.kind} ${entry.name}` }))
  const placeOf = ({ name }: Entry): number => name.toLowerCase().indexOf(text.toLowerCase())
  return [
    ...entries.filter((entry) => placeOf(entry) === 0),
    ...found.map(entryOfHit),
    ...entries.filter((entry) => placeOf(entry) > 0),
  ]
}

function entryOfHit({ kind, id, name, account_name: account, detail, state }: Hit): Entry {
  const known: readonly (string | null)[] = [null, name, 'active']
  const parts = [
    t(`shell.kinds.${kind}`),
    ...[account, detail, state].filter((part) => !known.includes(part)),
  ]
  return {
    id: `${kind} ${id}`,
    kind,
    name,
    detail: parts.join(' · '),
    link: linkOf(kind, id),
  }
}

function linkOf(kind: Hit['kind'], id: string): Entry['link'] {
  switch (kind) {
    case 'account':
      return { to: '/accounts/$account', params: { account: id } }
    case 'key':
      return { to: '/keys', search: { key: id } }
    case 'request':
      return { to: '/requests/$request', params: { request: id } }
    case 'channel':
      return { to: '/channels/$channel', params: { channel: id } }
    case 'model':
      return { to: '/models', search: { tab: 'prices', model: id } }
  }
}

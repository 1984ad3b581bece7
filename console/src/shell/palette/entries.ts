/**
 * The entries of the palette: pages, actions, and what the gateway finds. Pure: what opens an entry is its
 * link. The best fit comes first: a whole name, then a beginning, then a part.
 */
import type { LinkProps } from '@tanstack/react-router'
import type { paths } from '../../api/schema.ts'
import { t } from '../../messages/t.ts'
import type { Role } from '../../api/session.ts'
import { sections } from '../sections.ts'

type SearchAnswer =
  paths['/admin/v1/search']['post']['responses']['200']['content']['application/json']
export type Hit = SearchAnswer['items'][number]

export type EntryKind = Hit['kind'] | 'page' | 'action'

export interface Entry {
  /** Unique in the palette. */
  readonly id: string
  readonly kind: EntryKind
  readonly name: string
  /** Beside the name. */
  readonly detail: string
  readonly link: Pick<LinkProps, 'to' | 'params' | 'search'>
}

const pages: readonly Entry[] = sections.map(({ to, name, letter }) => ({
  id: `page ${name}`,
  kind: 'page',
  name,
  detail: `g ${letter}`,
  link: { to },
}))

interface Action extends Pick<Entry, 'name' | 'link'> {
  /** The least role that may do it. */
  readonly role: Role
}

const actions: readonly Action[] = [
  {
    name: t('shell.actions.newAccount'),
    role: 'operator',
    link: { to: '/accounts', search: { new: true } },
  },
  {
    name: t('shell.actions.applyCatalogue'),
    role: 'owner',
    link: { to: '/models', search: { tab: 'catalogue' } },
  },
  {
    name: t('shell.actions.importPrices'),
    role: 'owner',
    link: { to: '/models', search: { tab: 'import' } },
  },
  { name: t('shell.actions.revokeLeaked'), role: 'operator', link: { to: '/keys', search: {} } },
  {
    name: t('shell.actions.failedYesterday'),
    role: 'viewer',
    link: { to: '/requests', search: { range: 'yesterday', status: '5xx' } },
  },
  {
    name: t('shell.actions.lowBalance'),
    role: 'viewer',
    link: { to: '/accounts', search: { status: 'low' } },
  },
  {
    name: t('shell.actions.trouble'),
    role: 'viewer',
    link: { to: '/channels', search: { state: 'trouble' } },
  },
  {
    name: t('shell.actions.alertTargets'),
    role: 'viewer',
    link: { to: '/alerts', search: { tab: 'targets' } },
  },
  {
    name: t('shell.actions.actions'),
    role: 'viewer',
    link: { to: '/audit', search: { tab: 'actions' } },
  },
  {
    name: t('shell.actions.backups'),
    role: 'owner',
    link: { to: '/settings', search: { tab: 'backups' } },
  },
  {
    name: t('shell.actions.access'),
    role: 'viewer',
    link: { to: '/settings', search: { tab: 'access' } },
  },
  {
    name: t('shell.actions.doctor'),
    role: 'operator',
    link: { to: '/settings', search: { tab: 'doctor' } },
  },
]

/** Pages and actions that fit a text; all of them without one. */
export function fittingEntries(text: string, may: (role: Role) => boolean): readonly Entry[] {
  const all = [
    ...pages,
    ...actions
      .filter(({ role }) => may(role))
      .map(({ name, link }): Entry => ({
        id: `action ${name}`,
        kind: 'action',
        name,
        link,
        detail: '',
      })),
  ]
  if (text === '') return all
  return all
    .map((entry) => ({ entry, place: placeIn(entry.name, text) }))
    .filter(({ place }) => place !== -1)
    .sort((left, right) => Math.min(left.place, 1) - Math.min(right.place, 1))
    .map(({ entry }) => entry)
}

function placeIn(name: string, text: string): number {
  return name.toLowerCase().indexOf(text.toLowerCase())
}

/** Pages and actions that begin with the text, what was found, then other pages and actions. */
export function mergeEntries(
  text: string,
  own: readonly Entry[],
  found: readonly Entry[],
): readonly Entry[] {
  const begins = own.filter(({ name }) => placeIn(name, text) === 0)
  return [...begins, ...found, ...own.filter((entry) => !begins.includes(entry))]
}

export function entryOfHit({ kind, id, name, account_name: account, detail, state }: Hit): Entry {
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

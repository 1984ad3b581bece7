/** The operators' log as a declared list: who did what to what, in words and names. */
import { Link } from '@tanstack/react-router'
import { Fragment, type ReactNode } from 'react'
import { actionWords } from '../../figures/action-words.ts'
import { t } from '../../messages/t.ts'
import { defineList } from '../../ui/list/define.ts'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/values.tsx'
import type { Action } from './queries.ts'
import { AccountLink, ChannelLink } from '../links.tsx'

/** Areas and actions. */
const known =
  'account account.create account.edit account.limits account.credit account.refund account.suspend account.resume account.close account.reopen key key.create key.edit key.revoke channel channel.on channel.off channel.check channel.test catalogue.apply price.import alert alert.acknowledge alert.snooze note reconciliation store session'.split(
    ' ',
  )

function wordFilter<Name extends string>(name: Name, label: string) {
  const placeholder = t('list.nameOrId')
  return { kind: 'suggest', name, label, placeholder, suggestions: [] } as const
}

export const actionList = defineList<Action, 'action' | 'actor' | 'subject' | 'sessions'>({
  name: 'actions',
  caption: t('audit.actionsCaption'),
  rowKey: ({ sequence }) => String(sequence),
  rowName: ({ action }) => actionWords(action),
  filters: [
    {
      kind: 'suggest',
      name: 'action',
      label: t('audit.action'),
      suggestions: known.map((action) => [action, actionWords(action)] as const),
    },
    wordFilter('actor', t('audit.by')),
    wordFilter('subject', t('audit.subject')),
    {
      kind: 'choice',
      name: 'sessions',
      label: t('audit.sessions'),
      any: t('audit.sessionsHidden'),
      options: [['shown', t('audit.sessionsShown')]],
    },
  ],
  columns: [
    {
      id: 'time',
      name: t('audit.time'),
      place: 'note',
      cell: ({ at }) => <Time at={at} />,
    },
    {
      id: 'by',
      name: t('audit.by'),
      place: 'amount',
      cell: ({ actor_name: name, actor }) => <Actor id={actor} name={name} />,
    },
    {
      id: 'action',
      name: t('audit.action'),
      place: 'name',
      cell: ({ action }) => (
        <span className="list-whole" data-tip={action}>
          {actionWords(action)}
        </span>
      ),
    },
    {
      id: 'subject',
      name: t('audit.subject'),
      place: 'state',
      cell: (action) => <Subject of={action} />,
    },
    {
      id: 'detail',
      name: t('audit.detail'),
      isText: true,
      cell: ({ detail }) => <Detail of={detail} />,
    },
  ],
  empty: <Empty title={t('audit.noAction')} />,
  emptyFiltered: <Empty title={t('audit.noMatch')}>{t('audit.noMatchHint')}</Empty>,
})

/** The actions on one thing. */
export const activityList = defineList<Action>({
  ...actionList,
  name: 'activity',
  caption: t('audit.activity'),
  filters: [],
  columns: actionList.columns.filter(({ id }) => id !== 'subject'),
})

/** The name of a token or command; the id in the tip. */
export function Actor({ id, name }: { id: string; name: string | null }) {
  return <span data-tip={id}>{name ?? id}</span>
}

function Subject({ of: { action, subject, subject_name: known, detail } }: { of: Action }) {
  const name = known ?? (typeof detail['name'] === 'string' ? detail['name'] : subject)
  const shown = <span data-tip={subject}>{name}</span>
  if (subject.startsWith('acc_')) return <AccountLink id={subject}>{shown}</AccountLink>
  if (action.startsWith('key.'))
    return (
      <Link to="/keys" search={{ key: subject }}>
        {shown}
      </Link>
    )
  if (action.startsWith('channel.')) return <ChannelLink name={subject}>{shown}</ChannelLink>
  return shown
}

/** What has changed, by field; of a new thing, what is set. Long values open on demand. */
function Detail({ of }: { of: Action['detail'] }) {
  const facts = factsOf(of)
  return (
    <span className="soft break">
      {facts.map(([name, text], index) => (
        <Fragment key={name}>
          {index > 0 && ' · '}
          {name.replaceAll('_', ' ')}: <Value text={text} />
        </Fragment>
      ))}
    </span>
  )
}

type Fact = readonly [name: string, text: string]

interface EntryChange {
  readonly kind: string
  readonly name: string
  readonly changes: readonly {
    readonly field: string
    readonly from?: string
    readonly to?: string
  }[]
}

/** The row says these in other words. */
const bare = ['id', 'account_id', 'created_at']

function factsOf({ before, after, diff, ...detail }: Action['detail']): readonly Fact[] {
  const rest = Object.entries(detail).filter(
    ([name, value]) => !bare.includes(name) && ![null, '', '0', 0].includes(value as null),
  )
  return [
    ...changedFacts(before, after),
    ...(Array.isArray(diff) ? (diff as readonly EntryChange[]).map(diffFact) : []),
    ...rest.map(([name, value]): Fact => [name, textOf(value)]),
  ]
}

function changedFacts(before: unknown, after: unknown): readonly Fact[] {
  if (!isFields(before) || !isFields(after))
    return after === undefined ? [] : [[t('audit.result'), `${textOf(before)} → ${textOf(after)}`]]
  return Object.keys(after)
    .filter((name) => textOf(before[name]) !== textOf(after[name]))
    .map((name) => [name, `${textOf(before[name])} → ${textOf(after[name])}`])
}

function diffFact({ kind, name, changes }: EntryChange): Fact {
  const texts = changes.map(({ field, from, to }) => `${field} ${textOf(from)} → ${textOf(to)}`)
  return [`${kind} ${name}`, texts.join(', ')]
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return t('audit.nothing')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const shortMax = 120

function Value({ text }: { text: string }): ReactNode {
  if (text.length <= shortMax) return text
  return (
    <details>
      <summary>{text.slice(0, shortMax)}…</summary>
      {text}
    </details>
  )
}

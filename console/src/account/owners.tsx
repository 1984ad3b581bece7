/** What an owner runs: the people of the account, what they did, and what the account sets itself. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useList } from '../api/list.ts'
import { actionWords } from '../figures/action-words.ts'
import { languageNames, languages } from '../messages/language.ts'
import { t } from '../messages/t.ts'
import { Acts } from '../ui/acts.tsx'
import { Card } from '../ui/card.tsx'
import { choiceField, textAreaField, textField, usdField } from '../ui/form-fields.tsx'
import { DraftForm, NewForm } from '../ui/form.tsx'
import { defineList } from '../ui/list/define.ts'
import { List } from '../ui/list/list.tsx'
import { Empty, Shown } from '../ui/states.tsx'
import { Time } from '../ui/values.tsx'
import { nullable, number, pageOf, record, text, type ValueOf } from './answers.ts'
import { call, roleForm, roles } from './session.ts'

const memberForm = record({ id: text, email: text, role: roleForm, signed_in_at: nullable(text) })
type Member = ValueOf<typeof memberForm>

/** An account has at most 100. */
export const membersQuery = queryOptions({
  queryKey: ['account', 'members'],
  queryFn: async () => (await call('GET /members', pageOf(memberForm))).items,
})

const memberList = defineList<Member>({
  name: 'account-page-members',
  caption: t('account.tabs.people'),
  rowKey: ({ id }) => id,
  rowName: ({ email }) => email,
  columns: [
    { id: 'email', name: t('members.email'), cell: ({ email }) => email },
    { id: 'role', name: t('members.role'), cell: ({ role }) => t(`members.roles.${role}`) },
    { id: 'seen', name: t('members.signedIn'), cell: (one) => <Time at={one.signed_in_at} /> },
    {
      id: 'actions',
      name: t('members.actions'),
      isAction: true,
      cell: (member) => <MemberActions key={member.id} of={member} />,
    },
  ],
  empty: <Empty title={t('members.noMember')} />,
})

const inviteFields = {
  email: textField(t('members.email'), { isRequired: true, input: { type: 'email' } }),
  role: choiceField(
    t('members.role'),
    roles.map((role) => [role, t(`members.roles.${role}`)] as const),
    { initial: 'member', hint: t('members.rolesHint') },
  ),
}

const invitedForm = record({ email: text, mail_problem: nullable(text) })

const invite = {
  text: t('members.invite'),
  form: () => (
    <NewForm
      fields={inviteFields}
      action={t('members.invite')}
      send={({ draft }) => call('POST /members', invitedForm, draft)}
      toast={({ email, mail_problem: problem }) =>
        t('members.isInvited', { email, problem: problem ?? 'none' })
      }
    />
  ),
}

export function People() {
  const { data: rows, error, refetch } = useQuery(membersQuery)
  return (
    <List
      of={memberList}
      title={t('account.tabs.people')}
      hint={t('members.peopleHint')}
      list={{ rows, error, retry: () => void refetch() }}
      actions={<Acts acts={[invite]} />}
    />
  )
}

const ways = (['revoke', 'keep'] as const).map((way) => [way, t(`members.ways.${way}`)] as const)
const removeFields = { keys: choiceField(t('members.theirKeys'), ways, { initial: 'revoke' }) }

function MemberActions({ of: { id, email, role } }: { of: Member }) {
  const other = role === 'owner' ? 'member' : 'owner'
  const path = `/members/${id}` as const
  const change = {
    text: t(`members.make.${other}`),
    title: t(`members.makeTitle.${other}`, { email }),
    hint: t(`members.makeText.${other}`),
    form: () => (
      <NewForm
        fields={{}}
        action={t(`members.make.${other}`)}
        send={() => call(`PATCH ${path}`, record({}), { role: other })}
      />
    ),
  }
  const remove = {
    text: t('members.remove'),
    title: t('members.removeTitle', { email }),
    hint: t('members.removeHint'),
    isDanger: true,
    form: () => (
      <NewForm
        fields={removeFields}
        action={t('members.remove')}
        send={({ draft: { keys } }) => call(`DELETE ${path}?keys=${keys}`, record({}))}
        toast={() => t('members.isRemoved', { email })}
      />
    ),
  }
  return <Acts menu={t('members.actionsOf', { name: email })} acts={[change, remove]} />
}

const doneForm = record({
  at: text,
  sequence: number,
  email: nullable(text),
  action: text,
  subject: text,
  subject_name: nullable(text),
})

const activityList = defineList<ValueOf<typeof doneForm>>({
  name: 'account-page-activity',
  caption: t('account.tabs.activity'),
  rowKey: ({ sequence }) => String(sequence),
  rowName: ({ action }) => actionWords(action),
  columns: [
    { id: 'time', name: t('account.time'), place: 'note', cell: ({ at }) => <Time at={at} /> },
    {
      id: 'by',
      name: t('members.by'),
      place: 'state',
      cell: (one) => one.email ?? t('members.operator'),
    },
    {
      id: 'action',
      name: t('members.action'),
      place: 'name',
      cell: (one) => actionWords(one.action),
    },
    { id: 'subject', name: t('members.subject'), cell: (one) => one.subject_name ?? one.subject },
  ],
  empty: <Empty title={t('members.noActivity')} />,
})

export function Activity() {
  const activity = useList(['account', 'activity'], ({ cursor = '' }) =>
    call(`GET /activity${cursor && `?cursor=${cursor}`}`, pageOf(doneForm)),
  )
  return (
    <List
      of={activityList}
      title={t('account.tabs.activity')}
      hint={t('members.activityHint')}
      list={activity}
    />
  )
}

const detailsForm = record({ contact: text, language: text, alert_below_usd: text, bill_to: text })

const detailsQuery = queryOptions({
  queryKey: ['account', 'details'],
  queryFn: () => call('GET /details', detailsForm),
})

const detailFields = {
  contact: textField(t('members.contact'), { hint: t('members.contactHint') }),
  alert_below_usd: usdField(t('members.alertBelow'), { hint: t('members.alertBelowHint') }),
  language: choiceField(
    t('members.language'),
    languages.map((each) => [each, languageNames[each]] as const),
    { initial: 'en' },
  ),
  bill_to: textAreaField(t('members.billTo'), { hint: t('members.billToHint') }),
}

export function Details() {
  return (
    <Card title={t('account.tabs.details')}>
      <Shown query={useQuery(detailsQuery)}>
        {(details) => (
          <DraftForm
            // Saved details are read again, and a further change begins with them.
            key={JSON.stringify(details)}
            fields={detailFields}
            read={details}
            valuesOf={(read) => read}
            readAgain={() => Promise.resolve(details)}
            action={t('members.save')}
            send={({ changes }) => call('PATCH /details', detailsForm, changes)}
            toast={() => t('members.saved')}
          />
        )}
      </Shown>
    </Card>
  )
}

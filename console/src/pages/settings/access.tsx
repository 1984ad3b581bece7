/** Who may use the admin side: admin tokens, and the sessions of the token that is signed in. */
import { useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { signOut, useMay } from '../../api/session.ts'
import { SecretAfter } from '../../figures/key-form.tsx'
import { t } from '../../messages/t.ts'
import { Acts } from '../../ui/acts.tsx'
import { AskButton } from '../../ui/ask.tsx'
import { Badge } from '../../ui/card.tsx'
import { SecretOnce, variablesFile } from '../../ui/copy.tsx'
import { choiceField, dayField, textField } from '../../ui/form-fields.tsx'
import { NewForm } from '../../ui/form.tsx'
import { defineList } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import { Empty } from '../../ui/states.tsx'
import { Age, Time } from '../../ui/values.tsx'

function readTokens(cursor: { cursor?: string }) {
  return bodyOf(api.GET('/admin/v1/admin-tokens', { params: { query: { limit: 50, ...cursor } } }))
}

type Token = Awaited<ReturnType<typeof readTokens>>['items'][number]

const tones = { active: 'good', expired: 'neutral', revoked: 'neutral' } as const
const roles = ['viewer', 'operator', 'owner', 'credits'] as const

const tokenList = defineList<Token>({
  name: 'admin-tokens',
  caption: t('settings.tokensCaption'),
  rowKey: ({ id }) => id,
  rowName: ({ name }) => name,
  columns: [
    {
      id: 'name',
      name: t('settings.name'),
      cell: ({ name, head }) => (
        <>
          <strong>{name}</strong>
          <div className="soft">
            <code>{head}</code>
          </div>
        </>
      ),
    },
    { id: 'role', name: t('settings.role'), place: 'note', cell: ({ role }) => role },
    {
      id: 'status',
      name: t('settings.status'),
      place: 'state',
      cell: ({ state }) => <Badge tone={tones[state]}>{t(`settings.tokenStates.${state}`)}</Badge>,
    },
    {
      id: 'used',
      name: t('settings.lastUsed'),
      cell: ({ last_used_at: at }) => <Time at={at} />,
    },
    {
      id: 'expires',
      name: t('settings.expires'),
      cell: ({ expires_at: at }) => (at === null ? t('settings.never') : <Time at={at} />),
    },
    {
      id: 'revoke',
      name: t('settings.actions'),
      isAction: true,
      cell: (token) => <RevokeToken key={token.id} token={token} />,
    },
  ],
  empty: <Empty title={t('settings.noToken')} />,
})

export function Access() {
  return (
    <>
      <AdminTokens />
      <Sessions />
    </>
  )
}

function AdminTokens() {
  const isOwner = useMay('owner')
  return (
    <List
      of={tokenList}
      list={useList(['settings', 'admin-tokens'], readTokens)}
      title={t('settings.tokens')}
      hint={t('settings.tokensHint')}
      actions={isOwner && <Acts acts={[newToken]} />}
    />
  )
}

const fields = {
  name: textField(t('settings.name'), { input: { placeholder: 'monitoring' } }),
  role: choiceField(
    t('settings.role'),
    roles.map((role) => [role, t(`settings.roles.${role}`)] as const),
    { initial: 'viewer' },
  ),
  expires: dayField(t('settings.expires'), { hint: t('settings.expiresHint') }),
}

const newToken = {
  text: t('settings.newToken'),
  form: (close: () => void) => (
    <SecretAfter
      made={(secret) => (
        <SecretOnce
          secret={secret}
          file={variablesFile(`TURNPIKE_TOKEN=${secret}`)}
          onDone={close}
        />
      )}
    >
      {(onMade) => (
        <NewForm
          fields={fields}
          action={t('settings.createToken')}
          send={({ draft: { name, role, expires }, once }) =>
            bodyOf(
              api.POST('/admin/v1/admin-tokens', {
                params: { header: { 'Idempotency-Key': once } },
                body: { name: name.trim(), role, ...(expires !== '' && { expires }) },
              }),
            )
          }
          refresh={[['settings', 'admin-tokens']]}
          onDone={onMade}
        />
      )}
    </SecretAfter>
  ),
}

function RevokeToken({ token: { id, name, state } }: { token: Token }) {
  const isOwner = useMay('owner')
  if (!isOwner || state !== 'active') return null
  return (
    <AskButton
      text={t('settings.revoke')}
      title={t('settings.revokeTitle', { name })}
      action={t('settings.revokeToken')}
      act={() => bodyOf(api.DELETE('/admin/v1/admin-tokens/{id}', { params: { path: { id } } }))}
      done={t('settings.isRevoked', { name })}
      refresh={[['settings', 'admin-tokens']]}
    >
      {t('settings.revokeText')}
    </AskButton>
  )
}

const readSessions = () => bodyOf(api.GET('/admin/v1/sessions'))

type Session = Awaited<ReturnType<typeof readSessions>>['items'][number]

const sessionList = defineList<Session>({
  name: 'sessions',
  caption: t('settings.sessionsCaption'),
  rowKey: ({ created_at: at }) => at,
  columns: [
    {
      id: 'in',
      name: t('settings.signedIn'),
      cell: ({ created_at: at, current }) => (
        <>
          <Time at={at} /> {current && <Badge tone="accent">{t('settings.thisBrowser')}</Badge>}
        </>
      ),
    },
    { id: 'used', name: t('settings.lastUsed'), cell: ({ last_used_at: at }) => <Age at={at} /> },
    { id: 'ends', name: t('settings.ends'), cell: ({ expires_at: at }) => <Time at={at} /> },
  ],
  empty: null,
})

function Sessions() {
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'sessions'],
    queryFn: readSessions,
  })
  return (
    <List
      of={sessionList}
      list={{ rows: data?.items, error, retry: () => void refetch() }}
      title={t('settings.sessions')}
      hint={t('settings.sessionsHint')}
      actions={
        <AskButton
          text={t('settings.signOutEverywhere')}
          title={t('settings.signOutTitle')}
          action={t('settings.signOutEverywhere')}
          act={() => signOut('everywhere')}
        >
          {t('settings.signOutText')}
        </AskButton>
      }
    />
  )
}

/** The dialogs of keys and read-only tokens: they make one and show its secret once, or change a key. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { modelNamesQuery } from '../../api/names.ts'
import { t } from '../../messages/t.ts'
import { Notice } from '../../ui/card.tsx'
import { SecretOnce, Snippet, variablesFile } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import type { FormField } from '../../ui/draft.ts'
import { CheckField, SelectField } from '../../ui/field.tsx'
import { dayField, linesField, linesOf, textField, usdField } from '../../ui/form-fields.tsx'
import { DraftForm, NewForm, type FormParts } from '../../ui/form.tsx'
import { Group, Pair, Scroll, Stack } from '../../ui/layout.tsx'
import { Loading, Shown } from '../../ui/states.tsx'
import { keyQuery, listenQuery, vendorsQuery, type Account } from './queries.ts'

const count = { initial: '0', input: { inputMode: 'numeric' } } as const

/** Null = every model. */
const modelsField: FormField<readonly string[] | null, string[] | null> = {
  label: t('accounts.models'),
  initial: null,
  read: (value) => (Array.isArray(value) ? value.map(String) : null),
  send: (models) => models && [...models],
  input: ({ label, error, value, onChange }) => (
    <>
      <SelectField
        label={label}
        value={value === null ? 'all' : 'some'}
        options={[
          ['all', t('accounts.everyModel')],
          ['some', t('accounts.chosenModels')],
        ]}
        error={error}
        onChange={(choice) => onChange(choice === 'all' ? null : [])}
      />
      {value !== null && <ModelChoice chosen={value} onChange={onChange} />}
    </>
  ),
}

const expiresField = dayField(t('accounts.expires'), { hint: t('accounts.expiresHint') })

const keyFields = {
  name: textField(t('accounts.name'), {
    hint: t('accounts.keyNameHint'),
    input: { autoFocus: true },
  }),
  /** A key that is given a day works until its end, which is the start of the next one. */
  expires: {
    ...expiresField,
    read: (end: unknown) =>
      typeof end === 'string' ? new Date(Date.parse(end) - 1).toISOString().slice(0, 10) : '',
  },
  daily_usd: usdField(t('accounts.perDay'), { initial: '0' }),
  monthly_usd: usdField(t('accounts.perMonth'), { initial: '0' }),
  total_usd: usdField(t('accounts.total'), { initial: '0' }),
  rpm: textField(t('accounts.requests'), count),
  tpm: textField(t('accounts.tokens'), count),
  models: modelsField,
  ip: {
    ...linesField(t('accounts.addresses'), { rows: 2, hint: t('accounts.addressesHint') }),
    send: (text: string) => (text.trim() === '' ? null : [...linesOf(text)]),
  },
}

function keyInputs({ field }: FormParts<typeof keyFields>): ReactNode {
  return (
    <>
      <Pair>
        {field('name')}
        {field('expires')}
      </Pair>
      <Group title={t('accounts.budgetsHint')}>
        <Pair>
          {field('daily_usd')}
          {field('monthly_usd')}
          {field('total_usd')}
        </Pair>
      </Group>
      <Group title={t('accounts.ratesHint')}>
        <Pair>
          {field('rpm')}
          {field('tpm')}
        </Pair>
      </Group>
      {field('models')}
      {field('ip')}
    </>
  )
}

interface ModelChoiceProps {
  readonly chosen: readonly string[]
  readonly onChange: (models: readonly string[]) => void
}

function ModelChoice({ chosen, onChange }: ModelChoiceProps) {
  const { data } = useQuery(modelNamesQuery)
  if (data === undefined) return <Loading rows={2} />
  // A model that has left the catalogue stays chosen until it is taken off.
  const ids = [...new Set([...data, ...chosen])]
  return (
    <Scroll role="group" aria-label={t('accounts.chosen')}>
      {ids.map((id) => (
        <CheckField
          key={id}
          label={id}
          value={chosen.includes(id)}
          onChange={(isChosen) =>
            onChange(isChosen ? [...chosen, id] : chosen.filter((each) => each !== id))
          }
        />
      ))}
    </Scroll>
  )
}

interface DialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

interface EditKeyProps extends DialogProps {
  readonly id: string
  readonly name: string
}

export function EditKey({ id, name, ...props }: EditKeyProps) {
  return (
    <Dialog title={t('accounts.editTitle', { name })} hint={t('accounts.actsAtOnce')} {...props}>
      <EditKeyForm id={id} />
    </Dialog>
  )
}

function EditKeyForm({ id }: { id: string }) {
  const client = useQueryClient()
  return (
    <Shown query={useQuery(keyQuery(id))}>
      {(data) => (
        <DraftForm
          fields={keyFields}
          read={data}
          valuesOf={({ key }) => ({ ...key, expires: key.expires_at })}
          readAgain={() => client.fetchQuery({ ...keyQuery(id), staleTime: 0 })}
          action={t('accounts.save')}
          send={({ changes, read }) =>
            bodyOf(
              api.PATCH('/admin/v1/keys/{id}', {
                params: { path: { id }, header: { 'If-Match': read.tag } },
                body: changes,
              }),
            )
          }
          toast={() => t('accounts.keyChanged')}
          refresh={[['keys']]}
        >
          {keyInputs}
        </DraftForm>
      )}
    </Shown>
  )
}

interface NewCredentialProps extends DialogProps {
  readonly account: Account
}

/** A new thing has no restriction to take away. */
function givenOf<Changes extends object>(
  changes: Changes,
): { [Name in keyof Changes]: Exclude<Changes[Name], null> } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)) as {
    [Name in keyof Changes]: Exclude<Changes[Name], null>
  }
}

export function NewKey({ account: { id, name }, isOpen, onClose }: NewCredentialProps) {
  return (
    <Dialog title={t('accounts.newKeyTitle', { name })} isOpen={isOpen} onClose={onClose}>
      <SecretAfter made={(secret) => <KeySecret secret={secret} onDone={onClose} />}>
        {(onMade) => (
          <NewForm
            fields={keyFields}
            action={t('accounts.createKey')}
            send={({ changes, once }) =>
              bodyOf(
                api.POST('/admin/v1/accounts/{account}/keys', {
                  params: { path: { account: id }, header: { 'Idempotency-Key': once } },
                  body: givenOf(changes),
                }),
              )
            }
            refresh={[['keys']]}
            onDone={onMade}
          >
            {keyInputs}
          </NewForm>
        )}
      </SecretAfter>
    </Dialog>
  )
}

const tokenFields = {
  name: textField(t('accounts.name'), {
    hint: t('accounts.tokenNameHint'),
    input: { autoFocus: true },
  }),
}

export function NewToken({ account: { id, name }, isOpen, onClose }: NewCredentialProps) {
  return (
    <Dialog
      title={t('accounts.newTokenTitle', { name })}
      hint={t('accounts.newTokenHint')}
      isOpen={isOpen}
      onClose={onClose}
    >
      <SecretAfter
        made={(secret) => (
          <SecretOnce
            secret={secret}
            file={variablesFile(`TURNPIKE_READ_ONLY_TOKEN=${secret}`)}
            onDone={onClose}
          >
            <p className="soft">
              {t.rich('accounts.tokenPlace', { code: (text) => <code>{text}</code> })}
            </p>
          </SecretOnce>
        )}
      >
        {(onMade) => (
          <NewForm
            fields={tokenFields}
            action={t('accounts.createToken')}
            send={({ draft, once }) =>
              bodyOf(
                api.POST('/admin/v1/accounts/{account}/tokens', {
                  params: { path: { account: id }, header: { 'Idempotency-Key': once } },
                  body: draft,
                }),
              )
            }
            refresh={[['keys']]}
            onDone={onMade}
          />
        )}
      </SecretAfter>
    </Dialog>
  )
}

interface SecretAfterProps {
  readonly made: (secret: string) => ReactNode
  readonly children: (onMade: (made: { readonly secret: string | null }) => void) => ReactNode
}

/** A form, and then the secret that it has made. */
function SecretAfter({ made, children }: SecretAfterProps) {
  const [secret, setSecret] = useState<string | null>()
  if (secret === undefined) return children((answer) => setSecret(answer.secret))
  // The request was repeated after its answer was lost; the gateway keeps no secret.
  if (secret === null) return <Notice tone="warn">{t('accounts.lostSecret')}</Notice>
  return made(secret)
}

function KeySecret({ secret, onDone }: { secret: string; onDone: () => void }) {
  const { data: vendors = [] } = useQuery(vendorsQuery)
  const { data: listen = '' } = useQuery(listenQuery)
  const address = clientAddress(listen)
  const text = setUpText(vendors, { secret, address: address ?? unknownAddress })
  return (
    <SecretOnce
      secret={secret}
      file={variablesFile(
        vendors.length === 0 ? `TURNPIKE_KEY=${secret}` : text.replaceAll('export ', ''),
      )}
      onDone={onDone}
    >
      {vendors.length > 0 && (
        <Stack>
          <p className="soft">
            {t('accounts.setVariables')}{' '}
            {address === undefined && t('accounts.putAddress', { address: unknownAddress })}
          </p>
          <Snippet label={t('accounts.shellVariables')} text={text} />
        </Stack>
      )}
    </SecretOnce>
  )
}

const unknownAddress = 'https://GATEWAY'

const loopback = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:[1-9]\d*)?$/

/**
 * The address of the public listener, from the setting `listen`. It is known on the machine itself only:
 * elsewhere a proxy or a published port stands before it.
 */
function clientAddress(listen: string): string | undefined {
  return loopback.test(listen) && loopback.test(location.host) ? `http://${listen}` : undefined
}

interface Vendor {
  readonly name: string
  readonly format: string
}

/** The variables that SDKs and agents read, with a new key in them. */
function setUpText(
  vendors: readonly Vendor[],
  { secret, address }: { readonly secret: string; readonly address: string },
): string {
  const variablesOf = ({ name, format }: Vendor): string =>
    format === 'messages'
      ? `export ANTHROPIC_BASE_URL=${address}/${name}\nexport ANTHROPIC_AUTH_TOKEN=${secret}`
      : `export OPENAI_BASE_URL=${address}/${name}/v1\nexport OPENAI_API_KEY=${secret}`
  return vendors.map(variablesOf).join('\n\n')
}

/** The dialogs of keys and read-only tokens: they make one and show its secret once, or change a key. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { modelNamesQuery } from '../../api/names.ts'
import { givenOf, keyFieldsOf, keyInputs, KeySecret, SecretAfter } from '../../figures/key-form.tsx'
import { t } from '../../messages/t.ts'
import { SecretOnce, variablesFile } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { textField } from '../../ui/form-fields.tsx'
import { DraftForm, NewForm } from '../../ui/form.tsx'
import { Shown } from '../../ui/states.tsx'
import { keyQuery, listenQuery, vendorsQuery, type Account } from './queries.ts'

const keyFields = keyFieldsOf(modelNamesQuery)

interface EditKeyProps {
  readonly id: string
  readonly name: string
  readonly isOpen: boolean
  readonly onClose: () => void
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

const tokenFields = {
  name: textField(t('accounts.name'), {
    hint: t('accounts.tokenNameHint'),
    input: { autoFocus: true },
  }),
}

/** The acts that make a key or a read-only token of an account. */
export function newCredentials({ id, name, status }: Account) {
  return {
    client: {
      text: t('accounts.newCredentials.client'),
      title: t('accounts.newKeyTitle', { name }),
      isDisabled: status === 'closed',
      form: (close: () => void) => (
        <SecretAfter made={(secret) => <NewSecret secret={secret} onDone={close} />}>
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
      ),
    },
    reader: {
      text: t('accounts.newCredentials.reader'),
      title: t('accounts.newTokenTitle', { name }),
      hint: t('accounts.newTokenHint'),
      form: (close: () => void) => (
        <SecretAfter
          made={(secret) => (
            <SecretOnce
              secret={secret}
              file={variablesFile(`TURNPIKE_READ_ONLY_TOKEN=${secret}`)}
              onDone={close}
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
      ),
    },
  }
}

function NewSecret({ secret, onDone }: { secret: string; onDone: () => void }) {
  const { data: vendors = [] } = useQuery(vendorsQuery)
  const { data: listen = '' } = useQuery(listenQuery)
  const address = clientAddress(listen)
  return (
    <KeySecret
      secret={secret}
      vendors={vendors}
      address={address ?? unknownAddress}
      onDone={onDone}
    >
      {address === undefined && t('accounts.putAddress', { address: unknownAddress })}
    </KeySecret>
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

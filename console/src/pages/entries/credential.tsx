/**
 * Replaces the credential of a channel: the new one must serve a tiny request first. The field and its text
 * live in this form alone; no address, history or storage has them.
 */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem } from '../../problem.ts'
import { Button } from '../../ui/button.tsx'
import { Form } from '../../ui/form.tsx'
import { announce } from '../../ui/toast.tsx'
import { useChannelRefresh } from '../channels/changes.ts'
import { SecretField } from './entry-fields.tsx'
import { replaceCredential } from './requests.ts'

export function Credential({ channel, onClose }: { channel: string; onClose: () => void }) {
  const refresh = useChannelRefresh()
  const [credential, setCredential] = useState('')
  const [isRefused, setIsRefused] = useState(false)
  const done = (): void => {
    setCredential('')
    announce(`The credential of ${channel} is replaced. The former one is kept for 24 hours.`)
    void refresh()
    onClose()
  }
  const forcing = useMutation({
    mutationFn: () => replaceCredential(channel, { credential: credential.trim(), force: true }),
    onSuccess: done,
  })
  const replace = () =>
    replaceCredential(channel, { credential: credential.trim(), force: false }).catch(
      (error: unknown) => {
        if (error instanceof Problem && error.code === 'operations.credential_refused')
          setIsRefused(true)
        throw error
      },
    )
  return (
    <Form
      action="Test and replace"
      isDisabled={credential.trim() === ''}
      onSubmit={replace}
      onDone={done}
      onCancel={onClose}
    >
      {(errorOf) => (
        <>
          <p>
            It serves one tiny request first, which the vendor bills to you. Then it is in force at
            once; requests that run keep the old one.
          </p>
          <SecretField
            label="New credential"
            hint="The secret itself, which is encrypted, or env:NAME or file:/path"
            value={credential}
            error={errorOf('credential')}
            onChange={(text) => {
              setCredential(text)
              setIsRefused(false)
            }}
          />
          {isRefused && (
            <div>
              <Button isBusy={forcing.isPending} onClick={() => forcing.mutate()}>
                Save it untested
              </Button>
            </div>
          )}
        </>
      )}
    </Form>
  )
}

/**
 * Opens the key of a secret that a person has typed or pasted. The browser hashes a whole secret; where it
 * cannot, it sends nothing. Of any other one it sends the head.
 */
import { useNavigate } from '@tanstack/react-router'
import { t } from '../messages/t.ts'
import { hashSecret, readSecret } from '../secret.ts'
import { announce } from '../ui/toast.tsx'
import { api, bodyOf } from './client.ts'

interface SecretSearch {
  /** Takes a whole secret and opens its key; false for any other text. Its field is then to be emptied. */
  readonly take: (text: string) => boolean
  /** Opens the list of keys whose secrets begin so; false for any other text. */
  readonly openHead: (text: string) => boolean
}

export function useSecretSearch(): SecretSearch {
  const navigate = useNavigate()
  const open = async (secret: string): Promise<void> => {
    const found = await findBySecret(secret)
    if ('id' in found) await navigate({ to: '/keys', search: { key: found.id } })
    else announce(found.reason)
  }
  return {
    take(text) {
      const given = readSecret(text)
      if (given?.kind !== 'whole') return false
      open(given.secret).catch((error: unknown) =>
        announce(error instanceof Error ? error.message : t('shell.secret.notFound')),
      )
      return true
    },
    openHead(text) {
      const given = readSecret(text)
      if (given?.kind !== 'head') return false
      void navigate({ to: '/keys', search: { q: given.head } })
      return true
    },
  }
}

async function findBySecret(
  secret: string,
): Promise<{ readonly id: string } | { readonly reason: string }> {
  const hash = await hashSecret(secret)
  if (hash === undefined)
    return {
      reason: t('shell.secret.noHash'),
    }
  const { items } = await bodyOf(api.POST('/admin/v1/keys/find', { body: { hash } }))
  const [key] = items
  return key === undefined ? { reason: t('shell.secret.unknown') } : { id: key.id }
}

/**
 * Opens the key of a secret that a person has pasted. The browser hashes the secret; where it cannot, it
 * sends nothing.
 */
import { useNavigate } from '@tanstack/react-router'
import { hashSecret, readSecret } from '../secret.ts'
import { announce } from '../ui/toast.tsx'
import { api, bodyOf } from './client.ts'

/** Returns a function that takes a secret, or the beginning of one, and is false for any other text. */
export function useKeyOfSecret(): (text: string) => boolean {
  const navigate = useNavigate()
  return (text) => {
    const given = readSecret(text)
    if (given?.kind === 'head') void navigate({ to: '/keys', search: { q: given.head } })
    if (given?.kind === 'whole')
      void findBySecret(given.secret).then(
        (found) => {
          if ('id' in found) return navigate({ to: '/keys', search: { key: found.id } })
          announce(found.reason)
          return undefined
        },
        (error: unknown) => announce(error instanceof Error ? error.message : 'It was not found.'),
      )
    return given !== undefined
  }
}

async function findBySecret(
  secret: string,
): Promise<{ readonly id: string } | { readonly reason: string }> {
  const hash = await hashSecret(secret)
  if (hash === undefined)
    return {
      reason:
        'Nothing was sent: over plain http this browser cannot hash a secret. Type its first 7 characters.',
    }
  const { items } = await bodyOf(api.POST('/admin/v1/keys/find', { body: { hash } }))
  const [key] = items
  return key === undefined
    ? { reason: 'No key of this gateway has this secret. Try its first 7 characters.' }
    : { id: key.id }
}

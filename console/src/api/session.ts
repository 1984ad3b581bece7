/** The session of this browser: who signed in, with which role, until when. */
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import type { Proof } from '../ui/proof.ts'
import { api, bodyOf } from './client.ts'

export type Role = 'viewer' | 'operator' | 'owner'

const ranks: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, owner: 2 }

/** Null without a session. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: Infinity,
  async queryFn() {
    const asked = await api.GET('/admin/v1/session')
    const { status } = asked.response
    return status === 204 || status === 401 ? null : bodyOf(Promise.resolve(asked))
  },
})

/** Returns whether the role of this session includes `least`; the API decides in any case. */
export function useMay(least: Role): boolean {
  const { data } = useSuspenseQuery(sessionQuery)
  return data !== null && ranks[data.role] >= ranks[least]
}

export async function signIn(proof: { token: string } | Proof): Promise<void> {
  await bodyOf(api.POST('/admin/v1/session', { body: proof }))
}

/** Ends this session, or all sessions of its token. A new document forgets the data that this one read. */
export async function signOut(where: 'here' | 'everywhere'): Promise<void> {
  await (where === 'here'
    ? bodyOf(api.DELETE('/admin/v1/session'))
    : bodyOf(api.DELETE('/admin/v1/sessions')))
  location.assign('/console/sign-in')
}

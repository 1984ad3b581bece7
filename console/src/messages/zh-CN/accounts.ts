import type { accounts as english } from '../en/accounts.ts'
import type { Translation } from '../translation.ts'

export const accounts = {} as const satisfies Translation<typeof english>

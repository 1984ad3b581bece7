import type { keys as english } from '../en/keys.ts'
import type { Translation } from '../translation.ts'

export const keys = {} as const satisfies Translation<typeof english>

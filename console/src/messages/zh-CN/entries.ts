import type { entries as english } from '../en/entries.ts'
import type { Translation } from '../translation.ts'

export const entries = {} as const satisfies Translation<typeof english>

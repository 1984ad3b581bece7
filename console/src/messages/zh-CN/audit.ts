import type { audit as english } from '../en/audit.ts'
import type { Translation } from '../translation.ts'

export const audit = {} as const satisfies Translation<typeof english>

import type { reconciliation as english } from '../en/reconciliation.ts'
import type { Translation } from '../translation.ts'

export const reconciliation = {} as const satisfies Translation<typeof english>

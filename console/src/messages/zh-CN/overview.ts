import type { overview as english } from '../en/overview.ts'
import type { Translation } from '../translation.ts'

export const overview = {} as const satisfies Translation<typeof english>

import type { money as english } from '../en/money.ts'
import type { Translation } from '../translation.ts'

export const money = {} as const satisfies Translation<typeof english>

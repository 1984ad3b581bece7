import type { models as english } from '../en/models.ts'
import type { Translation } from '../translation.ts'

export const models = {} as const satisfies Translation<typeof english>

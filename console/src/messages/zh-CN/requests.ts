import type { requests as english } from '../en/requests.ts'
import type { Translation } from '../translation.ts'

export const requests = {} as const satisfies Translation<typeof english>

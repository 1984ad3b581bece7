import type { channels as english } from '../en/channels.ts'
import type { Translation } from '../translation.ts'

export const channels = {} as const satisfies Translation<typeof english>

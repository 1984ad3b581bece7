import type { shell as english } from '../en/shell.ts'
import type { Translation } from '../translation.ts'

export const shell = {} as const satisfies Translation<typeof english>

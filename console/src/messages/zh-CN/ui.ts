import type { ui as english } from '../en/ui.ts'
import type { Translation } from '../translation.ts'

export const ui = { rows: '{count} 行' } as const satisfies Translation<typeof english>

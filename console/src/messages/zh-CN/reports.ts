import type { reports as english } from '../en/reports.ts'
import type { Translation } from '../translation.ts'

export const reports = {} as const satisfies Translation<typeof english>

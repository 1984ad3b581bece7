/** The comparison that this page asks for, and those that are kept. */
import { api, bodyOf } from '../../api/client.ts'
import type { ChosenFile } from '../../ui/field.tsx'
import type { Period } from '../../ui/range.ts'

export interface Question extends Period {
  /** A channel's name, or `all`. */
  readonly channel: string
  /** The vendor's files; none shows the charges alone. */
  readonly files: readonly ChosenFile[]
}

export function reconcile({ channel, from, to, files }: Question) {
  const body = { channel, from, to, ...(files.length > 0 && { vendor_counts: [...files] }) }
  return bodyOf(api.POST('/admin/v1/reconciliations', { body }))
}

export type Reconciliation = Awaited<ReturnType<typeof reconcile>>

export function readRuns(cursor: { cursor?: string }) {
  return bodyOf(
    api.GET('/admin/v1/reconciliations', { params: { query: { limit: 50, ...cursor } } }),
  )
}

export type Run = Awaited<ReturnType<typeof readRuns>>['items'][number]

export function accept(id: string, note: string) {
  const params = { path: { reconciliation: id } }
  const body = note === '' ? {} : { note }
  return bodyOf(api.POST('/admin/v1/reconciliations/{reconciliation}/accept', { params, body }))
}

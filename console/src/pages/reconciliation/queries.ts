/** The comparison that this page asks for, and those that are kept. */
import { api, bodyOf } from '../../api/client.ts'
import type { ChosenFile } from '../../ui/field.tsx'

export interface ReconciliationRequest {
  /** A channel's name, or `all`. */
  readonly channel: string
  readonly from: string
  readonly to: string
  /** The vendor's files; none shows the charges alone. */
  readonly files: readonly ChosenFile[]
  /** Set where the result is accepted. */
  readonly accepted?: { readonly note: string }
}

export function reconcile({ channel, from, to, files, accepted }: ReconciliationRequest) {
  return bodyOf(
    api.POST('/admin/v1/reconciliations', {
      body: {
        channel,
        from,
        to,
        ...(files.length > 0 && { vendor_counts: [...files] }),
        ...(accepted !== undefined && { accept: true }),
        ...(accepted !== undefined && accepted.note !== '' && { note: accepted.note }),
      },
    }),
  )
}

/** Reads the runs with files of a vendor, the newest first. */
export function readRuns(cursor: { cursor?: string }) {
  const query = { action: 'reconciliation', limit: 50, ...cursor }
  return bodyOf(api.GET('/admin/v1/actions', { params: { query } }))
}

export type Run = Awaited<ReturnType<typeof readRuns>>['items'][number]

export type Reconciliation = Awaited<ReturnType<typeof reconcile>>

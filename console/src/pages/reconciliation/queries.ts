/** The comparison that this page asks for. */
import { api, bodyOf } from '../../api/client.ts'

export interface ReconciliationRequest {
  /** A channel's name, or `all`. */
  readonly channel: string
  readonly from: string
  readonly to: string
  /** The texts of the vendor's files; none shows the charges alone. */
  readonly texts: readonly string[]
}

export function reconcile({ channel, from, to, texts }: ReconciliationRequest) {
  return bodyOf(
    api.POST('/admin/v1/reconciliations', {
      body: { channel, from, to, ...(texts.length > 0 && { vendor_counts: [...texts] }) },
    }),
  )
}

export type Reconciliation = Awaited<ReturnType<typeof reconcile>>

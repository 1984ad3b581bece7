/** The check of a channel as operations ask for it: who performs it has the network, they have not. */
import { InvariantError } from '../../base/errors.ts'
import type { Channel, Vendor } from '../../channels/channel.ts'
import type { Outcome } from '../../channels/health/health-event.ts'
import type { BrokenClass } from '../../channels/outcomes.ts'
import type { ForwardedOperation } from '../../formats/format.ts'
import type { ModelListing } from '../../formats/model-listing.ts'
import type { VendorReason } from '../../formats/vendor-reason.ts'
import type { Usage } from '../../metering/usage.ts'

/** Sends one real check to a vendor. */
export type RunCheck = (check: {
  readonly vendor: Vendor
  readonly channel: Channel
  readonly model: string
  readonly operation: ForwardedOperation
  readonly by: 'request' | 'models'
  readonly readsListing?: boolean
}) => Promise<{
  readonly outcome: Outcome
  readonly durationMs: number
  readonly status: number | undefined
  readonly failure?: BrokenClass
  readonly usage?: Usage | undefined
  readonly model?: string | undefined
  readonly reason?: VendorReason | undefined
  readonly listing?: ModelListing | undefined
}>

/** For work that sends no checks. */
export const noCheck: RunCheck = () => Promise.reject(new InvariantError('no check is sent here'))

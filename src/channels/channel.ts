/**
 * The catalogue in memory: vendors, models with prices, channels. One immutable snapshot, built and
 * validated beside the request path and replaced by one assignment. An exchange keeps the snapshot that
 * it began with.
 */
import type { Secret } from '../base/secret.ts'
import type { FormatName, ModelOperation, VendorFeature } from '../formats/format.ts'
import type { CostPrices } from '../metering/cost-prices.ts'
import type { ModelPrices } from '../metering/prices.ts'

export type CredentialScheme = 'x-api-key' | 'bearer'
/** Whether requests may name stored answers of the vendor: those of their own account, or none. */
export type StoredResponses = 'own' | 'refuse'
export type CheckKind = 'request' | 'models' | 'none'

/** The operator's decision about a channel; its health is what the gateway has observed. */
export type ChannelOverride = 'enabled' | 'disabled'

export interface Vendor {
  /** Also the route prefix: `alpha` serves `/alpha/…`. */
  readonly name: string
  readonly format: FormatName
  readonly credential: CredentialScheme
  /** The vendor's own header for the API version (`anthropic-version`), where it has one. */
  readonly versionHeader: string | undefined
  readonly defaultVersion: string | undefined
  readonly requireMaxTokens: boolean
  /** What requests may use of the operator's own vendor account, and what none may use. */
  readonly allowedFeatures: ReadonlySet<VendorFeature>
  readonly storedResponses: StoredResponses
}

export interface Model {
  readonly id: string
  readonly vendor: string
  readonly maxOutputTokens: number | undefined
  /** The most tokens that it reads. */
  readonly maxInputTokens?: number | undefined
  /** Its own limit for the first event of a stream, where it differs from the gateway's setting. */
  readonly firstEventTimeoutMs?: number | undefined
  /** How long pings alone keep its streams alive, where it differs from the gateway's setting. */
  readonly pingTimeoutMs?: number | undefined
  /** What it offers; absent = all that its prices allow. */
  readonly operations?: ReadonlySet<ModelOperation> | undefined
  readonly createdAtMs: number
  readonly prices: ModelPrices
}

/** A baseline set by the operator: a model's usual time to the first event on a channel. */
export interface PinnedBaseline {
  readonly p50Ms: number
  readonly p95Ms: number
}

export interface Channel {
  readonly name: string
  readonly vendor: string
  /** Origin and base path, without the `/v1/…` that the gateway appends. */
  readonly url: string
  readonly credential: Secret
  /** Model id → the channel's own name for it, where that differs. */
  readonly models: ReadonlyMap<string, string | undefined>
  /** The lowest usable rank serves; 0 is the main route. */
  readonly rank: number
  readonly weight: number
  readonly maxConcurrent: number | undefined
  readonly check: CheckKind
  readonly override: ChannelOverride
  /** By model; a missing baseline is learned. */
  readonly baselines?: ReadonlyMap<string, PinnedBaseline>
  /** What the operator pays here; absent = not known. */
  readonly cost?: CostPrices | undefined
}

export interface Snapshot {
  /** Grows with each change of the catalogue; two snapshots with equal revisions are the same. */
  readonly revision: number
  readonly vendors: ReadonlyMap<string, Vendor>
  readonly models: ReadonlyMap<string, Model>
  readonly channels: ReadonlyMap<string, Channel>
  /** Channels by model id, in no particular order; disabled ones included. */
  readonly channelsByModel: ReadonlyMap<string, readonly Channel[]>
}

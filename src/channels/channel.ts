/**
 * The catalogue as the running gateway sees it: vendors, models with prices, channels. One
 * immutable snapshot, built and validated off the path and swapped by one assignment; an exchange
 * keeps the snapshot it began with.
 */
import type { Secret } from '../base/secret.ts'
import type { FormatName, OperatorFeature } from '../formats/format.ts'
import type { ModelPrices } from '../metering/price-book.ts'

export type CredentialScheme = 'x-api-key' | 'bearer'
export type CheckKind = 'request' | 'models' | 'none'

/** What an operator has said about a channel; health is what the gateway has seen. */
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
  /** What requests may ask of the operator's own account with this vendor. */
  readonly allowedFeatures: ReadonlySet<OperatorFeature>
}

export interface Model {
  readonly id: string
  readonly vendor: string
  readonly maxOutputTokens: number | undefined
  /** How long its streams may take to begin, where that differs from the gateway's setting. */
  readonly firstEventTimeoutMs?: number | undefined
  readonly createdAtMs: number
  readonly prices: ModelPrices
}

/** What an operator says is usual for a model on a channel: time to a stream's first event. */
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
  /** Model id → the name the channel knows it by, where that differs. */
  readonly models: ReadonlyMap<string, string | undefined>
  /** Lowest usable rank serves; 0 is the main route. */
  readonly rank: number
  readonly weight: number
  readonly maxConcurrent: number | undefined
  readonly check: CheckKind
  readonly override: ChannelOverride
  /** By model; what is not here is learned. */
  readonly baselines?: ReadonlyMap<string, PinnedBaseline>
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

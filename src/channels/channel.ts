/**
 * The catalogue in memory: vendors, models with prices, channels. One immutable snapshot, built and
 * validated beside the request path and replaced by one assignment. An exchange keeps the snapshot that
 * it began with.
 */
import type { Secret } from '../base/secret.ts'
import type { ModelPrices } from '../metering/prices.ts'
import type { channelFields } from './catalogue/channel-fields.ts'
import type { Values } from './catalogue/field.ts'
import type { modelFields } from './catalogue/model-fields.ts'
import type { vendorFields } from './catalogue/vendor-fields.ts'

/** The operator's decision about a channel; its health is what the gateway has observed. */
export type ChannelOverride = 'enabled' | 'disabled'

export interface Vendor extends Values<typeof vendorFields> {
  /** Also the route prefix: `alpha` serves `/alpha/…`. */
  readonly name: string
}

export interface Model extends Values<typeof modelFields> {
  readonly id: string
  readonly createdAtMs: number
  readonly prices: ModelPrices
}

export interface Channel extends Omit<
  Values<typeof channelFields>,
  'credential' | 'headers' | 'proxy'
> {
  readonly name: string
  /** By the places of its models; see `places.ts`. */
  readonly models: Values<typeof channelFields>['models']
  readonly credential: Secret
  /** Its address, which may hold a password. */
  readonly proxy?: Secret
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, Secret>
  /** What answers must not show: the credential, and the headers that the catalogue only refers to. */
  readonly secrets: readonly Secret[]
  readonly override: ChannelOverride
}

export type CheckKind = Channel['check']

export interface Snapshot {
  /** Grows with each change of the catalogue; two snapshots with equal revisions are the same. */
  readonly revision: number
  readonly vendors: ReadonlyMap<string, Vendor>
  readonly models: ReadonlyMap<string, Model>
  /** By the names that models have beside their ids. */
  readonly modelsByOtherName: ReadonlyMap<string, Model>
  readonly channels: ReadonlyMap<string, Channel>
  /** Channels by the place of a model, in no particular order; disabled ones included. */
  readonly channelsByModel: ReadonlyMap<string, readonly Channel[]>
}

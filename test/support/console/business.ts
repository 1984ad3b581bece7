/**
 * A business to show: its catalogue as a file, what that offers to clients, and names. Models and prices are
 * those of `turnpike init`; other models are made from them.
 */
import { stringify } from 'yaml'
import type { CostPrices } from '../../../src/metering/cost-prices.ts'
import { parseModelPrices, type PriceForm } from '../../../src/metering/price-form.ts'
import { pricesAt, type Prices } from '../../../src/metering/prices.ts'

/** A model as clients ask for it. */
export interface Offer {
  readonly id: string
  readonly vendor: string
  readonly format: 'messages' | 'chat'
  readonly operation: string
  readonly hasOutput: boolean
  readonly prices: Prices
  /** The usual time to the first event. */
  readonly firstEventMs: number
}

/** A channel that offers a model. */
export interface Way {
  readonly channel: string
  readonly cost: CostPrices | undefined
}

export interface Business {
  /** A catalogue file. */
  readonly catalogueText: string
  readonly offers: readonly Offer[]
  /** Usable channels of a model, the preferred one first. */
  waysOf(offer: Offer): readonly Way[]
}

export interface ModelForm {
  readonly vendor: string
  readonly price: PriceForm
  readonly max_output_tokens?: number
  /** The usual time to the first event. */
  readonly firstEventMs: number
}

export interface ChannelForm {
  readonly vendor: string
  readonly url: string
  readonly rank: number
  readonly weight?: number
  readonly credential: string
  /** What the operator pays, as a factor on list prices; absent = not known. */
  readonly costFactor?: number
  readonly check?: 'request' | 'models' | 'none'
  readonly max_concurrent?: number
}

const vendors = {
  anthropic: {
    format: 'messages',
    version_header: 'anthropic-version',
    default_version: '2023-06-01',
  },
  openai: { format: 'chat' },
} as const

export const models: Readonly<Record<string, ModelForm>> = {
  'claude-opus-5-5': {
    vendor: 'anthropic',
    max_output_tokens: 128_000,
    price: { input: 4, output: 20, cache_read: 0.2, cache_write_5m: 5, cache_write_1h: 8 },
    firstEventMs: 900,
  },
  'claude-sonnet-5-5': {
    vendor: 'anthropic',
    max_output_tokens: 128_000,
    price: { input: 2, output: 10, cache_read: 0.1, cache_write_5m: 2.5, cache_write_1h: 4 },
    firstEventMs: 520,
  },
  'claude-haiku-5-5': {
    vendor: 'anthropic',
    max_output_tokens: 128_000,
    price: {
      input: 0.1,
      output: 0.5,
      cache_read: 0.01,
      cache_write_5m: 0.125,
      cache_write_1h: 0.2,
    },
    firstEventMs: 260,
  },
  'gpt-6.2-sol': {
    vendor: 'openai',
    max_output_tokens: 128_000,
    price: { input: 2, output: 10, cache_read: 0.1 },
    firstEventMs: 610,
  },
  'gpt-6.1-terra': {
    vendor: 'openai',
    max_output_tokens: 128_000,
    price: { input: 1, output: 5, cache_read: 0.05 },
    firstEventMs: 380,
  },
  'text-embedding-4': { vendor: 'openai', price: { input: 0.02 }, firstEventMs: 90 },
}

/** Builds the catalogue file, and what it offers. Every channel has all models of its vendor. */
export function makeBusiness(
  modelForms: Readonly<Record<string, ModelForm>>,
  channelForms: Readonly<Record<string, ChannelForm>>,
): Business {
  const modelsOf = (vendor: string): string[] =>
    Object.keys(modelForms).filter((id) => modelForms[id]?.vendor === vendor)
  const channels = Object.fromEntries(
    Object.entries(channelForms).map(([name, { costFactor, ...form }]) => [
      name,
      {
        ...form,
        models: modelsOf(form.vendor),
        ...(costFactor !== undefined && { cost: { factor: costFactor } }),
      },
    ]),
  )
  const fileModels = Object.fromEntries(
    Object.entries(modelForms).map(([id, { vendor, price, max_output_tokens }]) => [
      id,
      { vendor, price, ...(max_output_tokens !== undefined && { max_output_tokens }) },
    ]),
  )
  const byRank = Object.entries(channelForms).toSorted(
    ([, left], [, right]) => left.rank - right.rank,
  )
  return {
    catalogueText: stringify({ vendors, models: fileModels, channels }),
    offers: Object.entries(modelForms).map(([id, form]) => offerOf(id, form)),
    waysOf: ({ vendor }) =>
      byRank
        .filter(([, channel]) => channel.vendor === vendor)
        .map(([channel, { costFactor }]) => ({ channel, cost: costOf(costFactor) })),
  }
}

function offerOf(id: string, { vendor, price, firstEventMs }: ModelForm): Offer {
  const prices = pricesAt(parseModelPrices(price), Number.MAX_SAFE_INTEGER)
  if (prices === undefined) throw new Error(`${id} has no price`)
  const hasOutput = price.output !== undefined
  const format = vendor === 'anthropic' ? 'messages' : 'chat'
  const chat = hasOutput ? 'chat.completions.create' : 'embeddings.create'
  return {
    id,
    vendor,
    format,
    operation: format === 'messages' ? 'messages.create' : chat,
    hasOutput,
    prices,
    firstEventMs,
  }
}

function costOf(factor: number | undefined): CostPrices | undefined {
  if (factor === undefined) return undefined
  return { factorPpm: Math.round(factor * 1_000_000), models: new Map() }
}

/** A catalogue with models for embeddings and completions, and requests to them. */
import { stringify } from 'yaml'
import { demoCatalogue } from '../../sandbox/demo.ts'
import type { JsonFields } from './requests.ts'
import type { WireRequest } from './http-client.ts'

export const embeddingsPath = '/beta/v1/embeddings'
export const completionsPath = '/beta/v1/completions'

/** Pico-dollars per token. */
export const embedInputPicos = 20_000n
export const textInputPicos = 1_500_000n
export const textOutputPicos = 2_000_000n

/** The demo's catalogue with two models more: `embed-1`, which has input only, and `text-1`. */
export function textCatalogue(vendorUrl: string): string {
  const base = demoCatalogue(vendorUrl)
  const models = ['chat-1', 'embed-1', 'text-1']
  const channel = { models, check: 'none' }
  return stringify(
    {
      vendors: base.vendors,
      models: {
        'chat-1': base.models['chat-1'],
        'embed-1': { vendor: 'beta', price: { input: 0.02 } },
        'text-1': { vendor: 'beta', max_output_tokens: 4096, price: { input: 1.5, output: 2 } },
      },
      channels: {
        'beta-main': { ...base.channels['beta-main'], ...channel },
        'beta-reserve': { ...base.channels['beta-reserve'], ...channel },
      },
    },
    { aliasDuplicateObjects: false },
  )
}

export interface TextAsk {
  readonly key: string
  readonly fields: JsonFields
  /** Directives for the simulated vendors. */
  readonly sandbox?: string
  readonly marker?: string
  readonly onChunk?: WireRequest['onChunk']
}

export function textRequest({ key, fields, sandbox, marker, onChunk }: TextAsk): WireRequest {
  return {
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      ...(sandbox !== undefined && { 'x-sandbox': sandbox }),
      ...(marker !== undefined && { 'x-sandbox-marker': marker }),
    },
    body: JSON.stringify(fields),
    ...(onChunk !== undefined && { onChunk }),
  }
}

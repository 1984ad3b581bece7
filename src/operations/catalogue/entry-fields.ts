/**
 * The fields of the catalogue's entries, for suggestions and for the tables of docs/catalogue.md, which
 * `npm run docs:write` writes from here. The texts are Markdown.
 */
import type { z } from 'zod'
import type { channelSchema, modelSchema, vendorSchema } from './entries.ts'

export interface Field {
  /** In words, or as code; `required` where there is none. */
  readonly fallback: string
  readonly meaning: string
}

type Fields<Schema extends z.ZodType> = Readonly<Record<keyof z.input<Schema>, Field>>

export const entryFields = {
  vendors: {
    format: {
      fallback: 'required',
      meaning: '`messages` or `chat`: the shape of bodies, stream events and errors.',
    },
    credential: {
      fallback: '`x-api-key` for messages, `bearer` for chat',
      meaning: 'How the gateway presents its key to the vendor.',
    },
    version_header: {
      fallback: 'none',
      meaning:
        "The vendor's own header for its API version. It cannot be a header that HTTP, credentials or the gateway use.",
    },
    default_version: {
      fallback: 'none',
      meaning: 'The value of that header when a client sends none. Put it in quotes: it is text.',
    },
    require_max_tokens: {
      fallback: '`true` for messages, `false` for chat',
      meaning:
        "`false` lets requests leave out `max_tokens`; the gateway then holds for the model's `max_output_tokens`.",
    },
    allow: {
      fallback: 'none',
      meaning: 'What requests may use of your own account at this vendor; see below.',
    },
    stored_responses: {
      fallback: '`own`',
      meaning:
        '`own`: an account may use the responses that it has made and this vendor stores. `refuse`: none may; see below.',
    },
  },
  models: {
    vendor: { fallback: 'required', meaning: 'The vendor of the model.' },
    max_output_tokens: {
      fallback: 'none',
      meaning:
        'The most output tokens. It sets the hold of a request without `max_tokens`; without both, 128,000.',
    },
    max_input_tokens: {
      fallback: 'the stored number, else 200,000',
      meaning:
        'The most tokens that the model reads. It sets the hold of requests with tools of the vendor or documents by address. `price import` stores it.',
    },
    first_event_timeout: {
      fallback: 'the setting of that name',
      meaning:
        'The longest time to the first event of a stream. For models that think before they write: `10m`.',
    },
    ping_timeout: {
      fallback: 'the setting of that name',
      meaning: 'How long pings alone keep a begun stream alive.',
    },
    operations: {
      fallback: 'all that its prices allow',
      meaning:
        'For vendors of the chat format: which of `chat`, `responses`, `embeddings` and `completions` the model offers. Others get a 404 that names these. Health checks ask by the first of them.',
    },
    price: {
      fallback: 'stored prices',
      meaning:
        'One set of [prices](#prices), or a list of versions of which all but one have a `valid_from`.',
    },
  },
  channels: {
    vendor: { fallback: 'required', meaning: 'The vendor that the channel reaches.' },
    url: { fallback: 'required', meaning: 'The address without `/v1/…`, which the gateway adds.' },
    credential: {
      fallback: 'required',
      meaning: '`env:NAME`, `file:/path`, or the secret itself, which is encrypted on apply.',
    },
    models: {
      fallback: 'required',
      meaning:
        'A list of models, or a mapping to their names at this channel: `{ large-1: vendor-side-name }`.',
    },
    rank: {
      fallback: '`0`',
      meaning: '0 to 99. The lowest rank with a usable channel serves; higher ranks are reserves.',
    },
    weight: {
      fallback: '`1`',
      meaning:
        "1 to 10000. The share of accounts among the channels of one rank. An account's calls to one model stay on one channel.",
    },
    max_concurrent: {
      fallback: 'none',
      meaning:
        'Concurrency limit for the attempts of clients. Further attempts go to the next channel. Each gateway counts for itself; the [processes](operating.md#use-all-cores) of one `serve` share it. Health checks do not count toward it: they use free room, or run one at a time where there is none.',
    },
    check: {
      fallback: '`request`',
      meaning:
        'How the gateway checks the channel: `request` sends a tiny model request, `models` a listing call, `none` nothing.',
    },
    baselines: {
      fallback: 'learned',
      meaning:
        "The usual times to the first event of a model's streams of any size, in place of learned ones: `{ large-1: { p50: 800ms, p95: 2s } }`.",
    },
    cost: {
      fallback: 'not known',
      meaning: 'What you pay on this channel; see [below](#cost-prices).',
    },
  },
} as const satisfies {
  readonly vendors: Fields<typeof vendorSchema>
  readonly models: Fields<typeof modelSchema>
  readonly channels: Fields<typeof channelSchema>
}

export type Section = keyof typeof entryFields

/** The keys of an entry, in the order of the page. */
export function entryKeys(section: Section): readonly string[] {
  return Object.keys(entryFields[section])
}

/** The entries of the file by name, before they are checked. */
export type GivenEntries = Readonly<Record<Section, Readonly<Record<string, unknown>>>>

/** Endpoints of the request log. */
import { z } from 'zod'
import { listRequests, showRequest } from './requests.ts'
import { endpoints, exampleNames } from '../endpoint.ts'
import { moment, pageOf, usd } from '../answer-forms.ts'

const milliseconds = z.number().min(0).nullable()
const count = z.int().min(0)

const request = {
  id: z.string().meta({ description: 'The same as the header x-turnpike-request-id.' }),
  started_at: moment,
  account_id: z.string(),
  account: z.string(),
  key_id: z.string(),
  key: z
    .string()
    .nullable()
    .meta({ description: 'Name of the key, or its head where it has none.' }),
  vendor: z.string(),
  model: z.string().nullable(),
  operation: z.string().nullable(),
  stream: z.boolean().nullable(),
  channel: z.string().nullable().meta({ description: 'Whose answer the client got.' }),
  outcome: z.enum([
    'completed',
    'client_left',
    'upstream_cut',
    'gateway_cut',
    'refused',
    'failed',
    'not_admitted',
  ]),
  status: z.int(),
  code: z
    .string()
    .nullable()
    .meta({ description: 'Where the gateway answered with an error; docs/errors.md has each.' }),
  input_tokens: count,
  output_tokens: count,
  cache_tokens: count,
  cost_usd: usd,
  first_event_ms: milliseconds,
  attempt_count: count.meta({ description: 'More than one: a retry or a failover.' }),
  ended_at: moment,
  client: z.string().nullable().meta({ description: 'Family of the user agent.' }),
  requests: z
    .int()
    .min(1)
    .meta({ description: 'How many requests the line stands for; it shows the first.' }),
}

/** A line of the list. */
export const requestLine = z.strictObject(request)

const part = z.strictObject({
  model: z.string(),
  long_context: z.boolean(),
  factors: z.array(z.strictObject({ kind: z.string(), name: z.string(), factor: z.string() })),
  lines: z.array(z.strictObject({ class: z.string(), count, price_usd: usd, amount_usd: usd })),
})

const inFull = z.strictObject({
  ...request,
  vendor_request_id: z.string().nullable(),
  explanation: z.string(),
  charge_explanation: z.string().meta({ description: 'Why the account paid, or why not.' }),
  error: z
    .strictObject({ meaning: z.string(), advice: z.string() })
    .nullable()
    .meta({ description: 'What `code` means and what to do, as Markdown.' }),
  attempts: z.array(
    z.strictObject({
      channel: z.string(),
      status: z.int().nullable(),
      class: z.string(),
      meaning: z.string(),
      blame: z
        .enum(['channel', 'client', 'none'])
        .nullable()
        .meta({ description: 'Whose fault it was; null where the attempt did not fail.' }),
      next: z
        .enum(['retry', 'failover'])
        .nullable()
        .meta({ description: 'What followed; null after the last attempt.' }),
      started_ms: z.number().min(0).meta({ description: 'From the start of the request.' }),
      first_event_ms: milliseconds,
      duration_ms: z.number().min(0),
    }),
  ),
  tokens: z.record(z.string(), count).meta({ description: 'By class of price.' }),
  marks: z.array(z.string()),
  bill: z
    .strictObject({
      calculation: z.string(),
      parts: z.array(part),
      fee_usd: usd,
      multiplier: z.string(),
      at_most_usd: usd.nullable(),
    })
    .nullable(),
  refund: z.strictObject({ amount_usd: usd, reason: z.string().nullable(), at: moment }).nullable(),
  own_cost_usd: usd.nullable(),
  lost_cost_usd: usd.meta({ description: 'Estimated, of attempts that no account pays.' }),
  address: z.string().nullable(),
})

export const requestEndpoints = endpoints('requests', {
  list: {
    route: 'GET /requests',
    summary: 'List requests, the newest first.',
    operation: listRequests,
    answer: pageOf(requestLine),
    example: { account: exampleNames.account, status: '4xx', limit: 20 },
  },
  show: {
    route: 'GET /requests/{request}',
    summary: "Show one request, by its id or the vendor's.",
    operation: showRequest,
    answer: inFull,
  },
})

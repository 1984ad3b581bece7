/**
 * The OpenAPI document of what the holder of an account calls: the figures below `/v1/usage`, and the
 * member API. The gateway serves no such document; this one is made from the schemas that validate.
 */
import { z } from 'zod'
import { hasBody, placesOf } from '../../../src/api/admin/input.ts'
import type { SessionCall } from '../../../src/operations/endpoint.ts'
import { holderAccount } from '../../../src/operations/holder/account.ts'
import { holderDays } from '../../../src/operations/holder/days.ts'
import { holderEndpoints, requestPath } from '../../../src/operations/holder/endpoints.ts'
import { holderKeys } from '../../../src/operations/holder/keys.ts'
import { holderPrices } from '../../../src/operations/holder/prices.ts'
import { holderProofs } from '../../../src/operations/holder/proofs.ts'
import { holderReceipts } from '../../../src/operations/holder/receipts.ts'
import { holderRequest, holderRequests } from '../../../src/operations/holder/requests.ts'
import {
  holderStatement,
  holderStatementFigures,
} from '../../../src/operations/holder/statement.ts'
import {
  ownCalls,
  ownEndpoints,
  type MemberEndpoint,
} from '../../../src/operations/members/own-endpoints.ts'

type Json = Readonly<Record<string, unknown>>

interface Figures {
  readonly input: z.ZodObject
  /** Absent where the answer is written while it is read. */
  readonly answer?: z.ZodType
}

const amount = z.number()
const count = z.int().nonnegative()
const counts = { requests: count, input_tokens: count, output_tokens: count, cost_usd: amount }
const period = z.enum(['day', 'month', 'total'])

/** The object of the specification. */
const usage: Figures = {
  input: z.strictObject({ period: period.optional() }),
  answer: z.strictObject({
    balance_usd: amount,
    currency: z.literal('USD'),
    period,
    limits: z.strictObject({
      daily_usd: amount,
      daily_used_usd: amount,
      window_minutes: count,
      rpm: count,
    }),
    usage: z.strictObject({ ...counts, cache_tokens: count }),
    by_model: z.array(z.strictObject({ model: z.string(), ...counts })),
  }),
}

const figures: ReadonlyMap<string, Figures> = new Map<string, Figures>([
  ['/v1/usage', usage],
  ['/v1/usage/account', holderAccount],
  ['/v1/usage/days', holderDays],
  ['/v1/usage/keys', holderKeys],
  ['/v1/usage/prices', holderPrices],
  ['/v1/usage/proofs', holderProofs],
  ['/v1/usage/receipts', holderReceipts],
  ['/v1/usage/requests', holderRequests],
  [requestPath, { input: z.strictObject({}), answer: holderRequest.answer }],
  ['/v1/usage/statement', holderStatement],
  ['/v1/usage/statement/figures', holderStatementFigures],
])

/** Figures that a member may read only with the role owner; a member's own ones need a parameter. */
const forOwners = [...holderEndpoints.keys()].filter((path) =>
  /\/(?:account|proofs|receipts|statement|statement\/figures)$/.test(path),
)

/** Operation → the least role of a member. `usage.…` is for read-only tokens, and has none. */
export interface AccountDocument {
  readonly document: Json
  readonly usage: readonly string[]
  readonly forMembers: readonly string[]
  readonly forOwners: readonly string[]
  /** Calls that need no session, or look for one. */
  readonly forAll: readonly string[]
}

export function accountDocument(requestId: string): AccountDocument {
  const missing = [...holderEndpoints.keys()].filter((path) => !figures.has(path))
  if (missing.length > 0) throw new TypeError(`no schema is known for ${missing.join(', ')}`)
  const paths: Record<string, Record<string, Json>> = {}
  for (const [path, one] of figures) {
    paths[path] = { get: describeFigures(`usage.${path}`, path, one, requestId) }
    const own = `/account${path}`
    if (path !== '/v1/usage')
      paths[own] = { get: describeFigures(`own.${path}`, path, one, requestId) }
  }
  const calls = Object.values(ownCalls)
  for (const row of [...ownEndpoints, ...calls]) {
    const path = (paths[`/account/v1${row.path}`] ??= {})
    path[row.method.toLowerCase()] = describeRow(row)
  }
  const rowsOf = (role: MemberEndpoint['role']): readonly string[] =>
    ownEndpoints.filter((row) => row.role === role).map(({ id }) => id)
  const ownFigures = [...holderEndpoints.keys()].filter((path) => !forOwners.includes(path))
  return {
    document: {
      openapi: '3.1.0',
      info: { title: 'Account API', version: '1' },
      paths,
      components: { responses: { Error: errorAnswer } },
    },
    usage: [...figures.keys()].map((path) => `usage.${path}`),
    forMembers: [...rowsOf('member'), ...ownFigures.map((path) => `own.${path}`), ownCalls.end.id],
    forOwners: [...rowsOf('owner'), ...forOwners.map((path) => `own.${path}`)],
    forAll: calls.filter((row) => row !== ownCalls.end).map(({ id }) => id),
  }
}

function describeFigures(operationId: string, path: string, one: Figures, id: string): Json {
  const { answer } = one
  const schema = answer === undefined ? {} : { schema: schemaOf(answer, 'output') }
  const csv = answer === undefined ? { 'text/csv': {} } : {}
  const inPath = { name: 'id', in: 'path', required: true, schema: idSchema, example: id }
  return {
    operationId,
    parameters: [...(path === requestPath ? [inPath] : []), ...queryOf(one.input.shape)],
    responses: {
      200: { description: 'Done.', content: { 'application/json': schema, ...csv } },
      default: { $ref: '#/components/responses/Error' },
    },
  }
}

/** Proxies could read a backslash or dots alone as another path, and a slash ends the segment. */
const idSchema = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,256}$' }

function describeRow(row: MemberEndpoint | SessionCall): Json {
  const { path, query, body } = placesOf(row)
  const { shape } = 'session' in row ? row.input : row.operation.input
  const fields = z.strictObject(
    Object.fromEntries([...body].map((name) => [name, shape[name] as z.ZodType])),
  )
  const { additionalProperties: _, ...bodySchema } = schemaOf(fields, 'input')
  return {
    operationId: row.id,
    parameters: [
      ...[...path].map((name) => ({
        name,
        in: 'path',
        required: true,
        schema: idSchema,
        example: row.example[name],
      })),
      ...queryOf(Object.fromEntries(query)),
    ],
    ...(hasBody(row) && {
      requestBody: {
        required: row.method === 'PATCH' || 'required' in bodySchema,
        content: {
          'application/json': {
            schema: {
              ...bodySchema,
              ...(row.method === 'PATCH' && { minProperties: 1 }),
              additionalProperties: false,
            },
            example: Object.fromEntries(
              Object.entries(row.example).filter(([name]) => body.has(name)),
            ),
          },
        },
      },
    }),
    responses: answersOf(row),
  }
}

function queryOf(shape: Readonly<Record<string, unknown>>): readonly Json[] {
  return Object.entries(shape).map(([name, type]) => ({
    name,
    in: 'query',
    required: false,
    schema: schemaOf(type as z.ZodType, 'input'),
  }))
}

function answersOf(row: MemberEndpoint | SessionCall): Json {
  const content = { 'application/json': { schema: schemaOf(row.answer, 'output') } }
  const isMailed = row === ownCalls.signIn || row === ownCalls.signUp
  const status = isMailed ? 202 : (!('session' in row) && row.status) || 200
  return {
    [status]: { description: 'Done.', content },
    ...(row === ownCalls.show && { 204: { description: 'The request has no session.' } }),
    default: { $ref: '#/components/responses/Error' },
  }
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return json
}

const errorAnswer: Json = {
  description: 'An error.',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['error'],
        properties: {
          error: {
            type: 'object',
            required: ['type', 'message', 'request_id'],
            properties: {
              type: { type: 'string' },
              message: { type: 'string' },
              request_id: { type: 'string' },
              fields: {
                type: 'array',
                items: {
                  type: 'object',
                  required: ['field', 'message'],
                  properties: { field: { type: 'string' }, message: { type: 'string' } },
                  additionalProperties: false,
                },
              },
            },
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      },
    },
  },
}

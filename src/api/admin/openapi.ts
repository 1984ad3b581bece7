/**
 * The OpenAPI 3.1 document of the admin API, made from the rows: inputs and answers are the schemas that
 * validate, so the document cannot differ from what the API does.
 */
import { z } from 'zod'
import { allRows } from '../../operations/all-endpoints.ts'
import { secretFields } from '../../operations/once.ts'
import { auditHeader, takenAtHeader } from '../../operations/store/backup-headers.ts'
import type { FeedEndpoint, FileEndpoint, SessionCall } from '../../operations/endpoint.ts'
import { hasBody, inputOf, placesOf, type Row } from './input.ts'
import { problemType } from './problem.ts'
import { plainCookie, secureCookie } from './session-cookie.ts'

type Json = Readonly<Record<string, unknown>>

export function buildDocument(): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const row of allRows) {
    const path = (paths[`/admin/v1${row.path}`] ??= {})
    path[row.method.toLowerCase()] = describeRow(row)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Turnpike admin API',
      version: '1',
      description: 'Everything an operator does. docs/admin-api.md explains the conventions.',
    },
    servers: [{ url: '/' }],
    security: credentials,
    paths,
    components: {
      securitySchemes: {
        adminToken: { type: 'http', scheme: 'bearer', description: 'An admin token, ad_…' },
        secureCookie: cookieScheme(secureCookie, 'The session of a browser over https.'),
        plainCookie: cookieScheme(plainCookie, 'The same on a loopback address without TLS.'),
      },
      schemas: { Problem: problem },
      responses: { Problem: problemResponse },
    },
  }
}

const credentials = [{ adminToken: [] }, { secureCookie: [] }, { plainCookie: [] }]

/** Beginning a session needs no credential but its body, and looking for one may find none. */
function openTo({ method, session }: SessionCall): Json {
  if (session === 'begins') return { security: [] }
  return method === 'GET' ? { security: [...credentials, {}] } : {}
}

function cookieScheme(name: string, description: string): Json {
  return { type: 'apiKey', in: 'cookie', name, description }
}

function describeRow(row: Row): Json {
  const { path, query, body } = placesOf(row)
  const required = new Set(
    (schemaOf(inputOf(row), 'input')['required'] as string[] | undefined) ?? [],
  )
  return {
    operationId: row.id,
    summary: row.summary,
    description: `Least role: ${row.role}${row.isForCredits === true ? ', or credits' : ''}.`,
    tags: [row.id.split('.')[0]],
    parameters: [
      ...[...path].map((name) => parameter(row, 'path', name, true)),
      ...[...query.keys()].map((name) => parameter(row, 'query', name, required.has(name))),
      ...headersOf(row),
    ],
    ...('session' in row && openTo(row)),
    ...(hasBody(row) && { requestBody: requestBody(row, body, required) }),
    responses: { ...success(row), default: { $ref: '#/components/responses/Problem' } },
  }
}

/** Proxies could read a backslash or dots alone as another path. */
const segmentForm = String.raw`^(?!\.{1,2}$)[^\\]+$`

function parameter(row: Row, place: 'path' | 'query', name: string, isRequired: boolean): Json {
  const schema = fieldSchema(row, name)
  return {
    name,
    in: place,
    required: isRequired,
    schema: place === 'path' ? { ...schema, pattern: segmentForm } : schema,
    ...(row.example[name] !== undefined && { example: row.example[name] }),
  }
}

function headersOf(row: Row): readonly Json[] {
  if ('stream' in row || 'file' in row || 'feed' in row || 'session' in row) return []
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Makes the change happen once, however often the request is sent.',
    schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
  }
  const match = {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The ETag of the answer that you read: only that version is changed.',
    schema: { type: 'string' },
  }
  return [...(row.repeats === undefined ? [] : [key]), ...(row.read === undefined ? [] : [match])]
}

function requestBody(row: Row, fields: ReadonlySet<string>, required: ReadonlySet<string>): Json {
  const names = [...fields]
  const needed = names.filter((name) => required.has(name))
  const example = Object.fromEntries(
    Object.entries(row.example).filter(([name]) => fields.has(name)),
  )
  return {
    // A change without a body changes nothing.
    required: needed.length > 0 || row.method === 'PATCH',
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: Object.fromEntries(names.map((name) => [name, fieldSchema(row, name)])),
          ...(needed.length > 0 && { required: needed }),
          // Absent fields stay, so at least one must be there.
          ...(row.method === 'PATCH' && { minProperties: 1 }),
          additionalProperties: false,
        },
        example,
      },
    },
  }
}

function success(row: Row): Json {
  if ('stream' in row) {
    const { answer, contentTypes } = row
    const json = answer === undefined ? {} : { schema: schemaOf(answer, 'output') }
    const content: Json = {
      [mediaType(contentTypes.json)]: json,
      [mediaType(contentTypes.csv)]: {},
    }
    return { 200: { description: 'Written while it is read.', content } }
  }
  if ('file' in row) return fileAnswer(row)
  if ('feed' in row) return feedAnswer(row)
  if ('session' in row) return sessionAnswer(row)
  const schema = schemaOf(row.answer, 'output')
  return {
    [row.status ?? 200]: {
      description: row.repeats === 'secret' ? 'The secret is null where repeated.' : 'Done.',
      content: {
        'application/json': { schema: row.repeats === 'secret' ? once(schema) : schema },
        ...(row.csv !== undefined && { 'text/csv': {} }),
      },
    },
  }
}

/** Without its parameters. */
function mediaType(contentType: string): string {
  return contentType.split(';')[0] ?? ''
}

function fileAnswer({ contentType }: FileEndpoint): Json {
  const header = (description: string): Json => ({ description, schema: { type: 'string' } })
  return {
    200: {
      description: 'The file. Compare its digest before you use it.',
      headers: {
        'Repr-Digest': header('SHA-256 of the file (RFC 9530).'),
        [takenAtHeader]: header('The copy has everything that was acknowledged before.'),
        [auditHeader]: header('`passed`, or `failed` where its ledger has differences.'),
      },
      content: { [contentType]: {} },
    },
  }
}

/** One schema for each event: its name, and the form of its data. */
function feedAnswer({ events }: FeedEndpoint): Json {
  const oneOf = Object.entries(events).map(([name, data]) => ({
    type: 'object',
    required: ['event', 'data'],
    properties: {
      event: { const: name },
      data: schemaOf(data, 'output'),
    },
  }))
  return {
    200: {
      description: 'Server-sent events until the client leaves. Data is JSON in one line.',
      content: { 'text/event-stream': { schema: { oneOf } } },
    },
  }
}

function sessionAnswer({ method, session, answer }: SessionCall): Json {
  const schema = schemaOf(answer, 'output')
  const cookie = { description: 'The session.', schema: { type: 'string' } }
  return {
    200: {
      description: 'Done.',
      ...(session === 'begins' && { headers: { 'Set-Cookie': cookie } }),
      content: { 'application/json': { schema } },
    },
    ...(method === 'GET' && { 204: { description: 'The request has no credential.' } }),
  }
}

/** Secrets are shown once: in the answer to a repeated request they are null. */
function once(schema: Json): Json {
  const properties = schema['properties'] as Readonly<Record<string, Json>>
  const nullable = Object.entries(properties).map(([name, property]) => [
    name,
    secretFields.includes(name) ? { ...property, type: orNull(property['type']) } : property,
  ])
  return { ...schema, properties: Object.fromEntries(nullable) as Json }
}

function orNull(type: unknown): readonly unknown[] {
  return [...new Set([type, 'null'].flat())]
}

function fieldSchema(row: Row, name: string): Json {
  return schemaOf(inputOf(row).shape[name] as z.ZodType, 'input')
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return json
}

const problem: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', description: 'The stable error code.' },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: { field: { type: 'string' }, message: { type: 'string' } },
        additionalProperties: false,
      },
    },
    mistakes: { type: 'array', items: {}, description: 'Mistakes in a file, with their lines.' },
    changes: {
      type: 'array',
      items: {},
      description:
        'What others have changed since the revision, each with its time, actor and diff.',
    },
    test: { type: 'object', description: 'What came back of a request with a new credential.' },
  },
  additionalProperties: false,
}

const problemResponse: Json = {
  description: 'Problem details (RFC 9457).',
  content: { [problemType]: { schema: { $ref: '#/components/schemas/Problem' } } },
}

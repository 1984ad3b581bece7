/**
 * Reads the input of an operation from a request: fields in the path, in the query, in the body. A field
 * in the wrong place is unknown there. The operation's own schema decides about everything else.
 */
import { z } from 'zod'
import { refuse, type Refusal } from '../../base/errors.ts'
import type {
  Endpoint,
  FeedEndpoint,
  FileEndpoint,
  SessionCall,
  StreamEndpoint,
} from '../../operations/endpoint.ts'
import type { MemberEndpoint } from '../../operations/members/own-endpoints.ts'
import { typeOf } from '../../operations/field.ts'
import type { OperationRefusal } from '../../operations/operation.ts'
import { receiveBody, smallBodyBytesMax, type BodySource } from './json-body.ts'
import { parseJsonObject } from './json-text.ts'

export type Row = Endpoint | StreamEndpoint | FileEndpoint | FeedEndpoint | SessionCall

/** Where each field of a row's input is sent. */
export interface Places {
  readonly path: ReadonlySet<string>
  readonly query: ReadonlyMap<string, z.ZodType>
  readonly body: ReadonlySet<string>
}

/** A row of the admin API or of the member API. */
type AnyRow = Row | MemberEndpoint

export function inputOf(row: AnyRow): z.ZodObject {
  if ('feed' in row) return row.feed
  if ('session' in row) return row.input
  return ('stream' in row ? row.stream : 'file' in row ? row.file : row.operation).input
}

export function hasBody({ method }: Pick<AnyRow, 'method'>): boolean {
  return method !== 'GET' && method !== 'DELETE'
}

export function placesOf(row: AnyRow): Places {
  const path = new Set([...row.path.matchAll(/{(\w+)}/g)].map(([, field]) => String(field)))
  const fields = Object.entries(inputOf(row).shape).filter(
    ([field]) => !path.has(field) && row.fixed?.[field] === undefined,
  )
  const isInQuery = (field: string): boolean => !hasBody(row) || row.query?.includes(field) === true
  return {
    path,
    query: new Map(
      fields
        .filter(([field]) => isInQuery(field))
        .map(([field, type]) => [field, type as z.ZodType]),
    ),
    body: new Set(fields.map(([field]) => field).filter((field) => !isInQuery(field))),
  }
}

export type ReadInput =
  | { readonly kind: 'input'; readonly input: Readonly<Record<string, unknown>> }
  | Refusal
  | OperationRefusal

/** A row with the places of its fields. */
export interface PlacedRow {
  readonly row: AnyRow
  readonly places: Places
}

/** `path` has the fields of the path, decoded. */
export async function readInput(
  source: BodySource,
  path: Readonly<Record<string, string>>,
  placed: PlacedRow,
): Promise<ReadInput> {
  const { row } = placed
  const bytesMax = row.bodyBytesMax ?? smallBodyBytesMax
  const received = hasBody(row) ? await receiveBody(source, bytesMax) : noBody
  if (received.kind === 'refusal') return received
  return parseInput({ ...targetOf(source, path), bytes: received.bytes }, placed)
}

const noBody = { kind: 'bytes', bytes: Buffer.from(new ArrayBuffer(0)) } as const

interface TargetFields {
  /** The request's target, for its query. */
  readonly target: string
  readonly path: Readonly<Record<string, string>>
}

export function targetOf({ incoming }: BodySource, path: TargetFields['path']): TargetFields {
  return { target: incoming.url ?? '', path }
}

/** Reads the input of a request whose body is small. */
export function parseInput(
  { bytes, ...rest }: TargetFields & { readonly bytes: Buffer },
  placed: PlacedRow,
): ReadInput {
  const body = bytes.length === 0 ? emptyBody : parseJsonObject(bytes)
  return body.kind === 'refusal' ? body : inputFrom({ ...rest, body: body.value }, placed)
}

const emptyBody = { kind: 'body', value: {} } as const

/** Reads the input of a request whose body has been parsed. */
export function inputFrom(
  {
    target,
    path,
    body: given,
  }: TargetFields & { readonly body: Readonly<Record<string, unknown>> },
  { row, places }: PlacedRow,
): ReadInput {
  const query = readQuery(target, places.query)
  if (query.kind === 'refusal') return query
  const strangers = Object.keys(given).filter((field) => !places.body.has(field))
  if (strangers.length > 0) return wrongFields(strangers, 'there is no such field in this body')
  const input = { ...given, ...query.fields, ...path }
  const hidden = findNul(input, [])
  if (hidden !== undefined) return wrongFields([hidden], 'must not contain U+0000')
  return { kind: 'input', input: { ...input, ...row.fixed } }
}

type ReadQuery =
  | { readonly kind: 'query'; readonly fields: Readonly<Record<string, unknown>> }
  | OperationRefusal

function readQuery(target: string, fields: Places['query']): ReadQuery {
  const start = target.indexOf('?')
  const parameters = new URLSearchParams(start === -1 ? '' : target.slice(start + 1))
  const names = [...new Set(parameters.keys())]
  const strangers = names.filter((name) => !fields.has(name))
  if (strangers.length > 0)
    return wrongFields(strangers, 'there is no such query parameter at this address')
  const isList = (name: string): boolean => isOf(z.ZodArray, fields.get(name))
  const twice = names.filter((name) => !isList(name) && parameters.getAll(name).length > 1)
  if (twice.length > 0) return wrongFields(twice, 'is given twice')
  const entries = names.map((name) => [
    name,
    isList(name) ? parameters.getAll(name) : fromText(parameters.get(name) ?? '', fields.get(name)),
  ])
  return { kind: 'query', fields: Object.fromEntries(entries) as Record<string, unknown> }
}

/** A query has text only: `true` and `false` become booleans where the field is one. */
function fromText(text: string, type: z.ZodType | undefined): unknown {
  if (text !== 'true' && text !== 'false') return text
  return isOf(z.ZodBoolean, type) ? text === 'true' : text
}

function isOf(
  kind: typeof z.ZodArray | typeof z.ZodBoolean,
  field: z.ZodType | undefined,
): boolean {
  return field !== undefined && typeOf(field) instanceof kind
}

function wrongFields(fields: readonly string[], message: string): OperationRefusal {
  const mistakes = fields.map((field) => ({ field, message }))
  return {
    ...refuse('operations.invalid', mistakes.map((one) => `${one.field}: ${message}`).join('; ')),
    fields: mistakes,
  }
}

/** Finds the path of a text with U+0000, which a database could not store. A body has few levels. */
function findNul(value: unknown, path: readonly string[]): string | undefined {
  if (typeof value === 'string') return value.includes('\0') ? path.join('.') : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, inner] of Object.entries(value)) {
    const found = name.includes('\0') ? path.join('.') : findNul(inner, [...path, name])
    if (found !== undefined) return found
  }
  return undefined
}

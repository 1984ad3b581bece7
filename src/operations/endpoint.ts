/**
 * An endpoint of the admin API as data: method, path, role, operation, and the shape of its answer. The
 * API, its OpenAPI document, the command line with `--server` and the tests of every endpoint are made
 * from these rows. A row decides nothing: what an endpoint means is its operation.
 */
import type { z } from 'zod'
import type { EventName } from './events/event.ts'
import type { Operation } from './operation.ts'
import type { BackupDownload } from './store/backup-download.ts'

/** What an admin token may do, each including the one before; docs/admin-api.md has the table. */
type Role = 'viewer' | 'operator' | 'owner'

interface Row {
  /** `area.verb`, unique: the name in the OpenAPI document. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /**
   * Below `/admin/v1`. A name in braces is a field of the operation's input. The other fields are in the
   * query of a GET or DELETE, in the JSON body of any other method.
   */
  readonly path: string
  /** Fields that are in the query although the method has a body. */
  readonly query?: readonly string[]
  /** Set where the body holds files, or comes without a credential: how large it may be. */
  readonly bodyBytesMax?: number
  /** One line, for the document. */
  readonly summary: string
  /** The least role that may call it. */
  readonly role: Role
  /** Fields of the operation's input that this endpoint sets itself. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /**
   * An input that works, for the document and the tests. Names and ids in it are those of
   * `exampleNames`; test/api/ creates what they name.
   */
  readonly example: Readonly<Record<string, unknown>>
}

export interface Endpoint<Value = unknown> extends Row {
  readonly operation: Operation<Value>
  readonly answer: z.ZodType<Value>
  /** Set where the endpoint takes an `Idempotency-Key`: it moves money or makes a secret. */
  readonly repeats?: 'money' | 'secret'
  /** The endpoint that reads what this one changes: its entity tag is compared with `If-Match`. */
  readonly read?: Endpoint
  /** Set where the answer has an entity tag: what it is made of. */
  readonly version?: (value: unknown) => unknown
  /** The whole list as CSV, for `format=csv`. The operation then has a field `format`, too. */
  readonly csv?: StreamEndpoint
  /** The answer's status; 200 by default. */
  readonly status?: 201
}

/** Writes a piece of text; resolves when more may follow. */
type WriteText = (text: string) => Promise<void> | void

/** An endpoint whose answer is written while it is read. Its input has a field `format`. */
export interface StreamEndpoint extends Row {
  readonly method: 'GET'
  readonly stream: Operation<void, z.ZodType, [WriteText]>
  /** The shape of the JSON document, once it is complete. */
  readonly answer?: z.ZodType
  /** By format. */
  readonly contentTypes: Readonly<Record<'json' | 'csv', string>>
}

/** An endpoint whose answer is a file. */
export interface FileEndpoint extends Row {
  readonly method: 'GET'
  readonly file: Operation<BackupDownload>
  readonly contentType: string
}

/** An endpoint whose answer is events, sent as they happen until the client leaves. */
export interface FeedEndpoint extends Row {
  readonly method: 'GET'
  /** What it accepts. */
  readonly feed: z.ZodObject
  /** The data of each event, by its name. */
  readonly events: Readonly<Record<EventName, z.ZodObject>>
}

/** An endpoint about the session of the browser that calls it. */
export interface SessionCall extends Row {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Only the call that begins one needs no credential. */
  readonly session: 'begins' | 'exists'
  /** What it accepts. */
  readonly input: z.ZodObject
  readonly answer: z.ZodType
}

/** A body with files. Reading one of this size takes about 1 GB of memory; one is read at a time. */
export const fileBodyBytesMax = 32 * 1_048_576

/** Checks that the answer's shape fits the operation. */
export function endpoint<Value>(
  row: Omit<Endpoint<Value>, 'answer'> & { readonly answer: z.ZodType<NoInfer<Value>> },
): Endpoint<Value> {
  return row
}

/** Names and ids that stand in examples. */
export const exampleNames = {
  account: 'acme',
  key: 'key_exampleofakey',
  token: 'key_exampleofatoken',
  adminToken: 'key_exampleofanadmintoken',
  channel: 'alpha-main',
  request: 'ex_exampleofarequest',
  alertTarget: 'ops',
  audit: 'aud_exampleofanaudit',
} as const

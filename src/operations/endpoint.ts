/**
 * An endpoint of the admin API as data: method, path, role, operation, and the shape of its answer. The
 * API, its OpenAPI document, the command line with `--server` and the tests of every endpoint are made
 * from these rows. A row decides nothing: what an endpoint means is its operation.
 */
import type { z } from 'zod'
import { operatorRoles, type AdminRole, type OperatorRole } from '../access/key.ts'
import { printList, withFormat, type WriteText } from './list-text.ts'
import type { AnsweringOperation, Operation } from './operation.ts'
import type { Page } from './paging.ts'
import type { BackupDownload } from './store/backup-download.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** What every row says. */
interface Said {
  /** One line, for the document. */
  readonly summary: string
  /** Fields that are in the query although the method has a body. */
  readonly query?: readonly string[]
  /** Set where the body holds files, or comes without a credential: how large it may be. */
  readonly bodyBytesMax?: number
  /** Fields of the operation's input that this endpoint sets itself. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** Tokens with the role credits may call it, too. */
  readonly isForCredits?: true
}

interface Row extends Said {
  /** `area.verb`, unique: the name in the OpenAPI document. */
  readonly id: string
  readonly method: Method
  /**
   * Below `/admin/v1`. A name in braces is a field of the operation's input. The other fields are in the
   * query of a GET or DELETE, in the JSON body of any other method.
   */
  readonly path: string
  /** The least role that may call it. */
  readonly role: OperatorRole
  /**
   * An input that works, for the document and the tests. Names and ids in it are those of
   * `exampleNames`; test/api/ creates what they name.
   */
  readonly example: Readonly<Record<string, unknown>>
}

/** A row as it is written down, see `rowOf`. */
interface Written extends Said {
  /** Method and path. */
  readonly route: `${Method} /${string}`
  readonly role?: OperatorRole
  readonly example?: Row['example']
}

interface Call<Value> {
  readonly operation: AnsweringOperation<Value>
  /**
   * Set where the endpoint takes an `Idempotency-Key`: it moves money, makes a secret, or puts another
   * credential in force.
   */
  readonly repeats?: 'money' | 'secret' | 'credential'
  /** The whole list as CSV, for `format=csv`. The operation then has a field `format`, too. */
  readonly csv?: StreamEndpoint
  /** The answer's status; 200 by default. */
  readonly status?: 201
  /**
   * Fields that are no part of the answer's entity tag: they change by themselves, and no operator overwrites
   * them.
   */
  readonly untagged?: readonly string[]
}

export interface Endpoint<Value = unknown> extends Row, Call<Value> {
  readonly answer: z.ZodType
  /** The endpoint that reads what this one changes: its entity tag is compared with `If-Match`. */
  readonly read?: Endpoint
  /** Whether its answer has an entity tag: another endpoint changes what it reads. */
  readonly isTagged: boolean
}

interface WrittenEndpoint<Value> extends Written, Call<Value> {
  /** A list of pages that is also read whole, as CSV; see list-text.ts. */
  readonly isExported?: true
  /** Given where it is not made of the subject and the name among its endpoints. */
  readonly id?: string
  /** The name of the endpoint that reads what this one changes. */
  readonly read?: string
}

/** An endpoint whose answer is written while it is read. Its input has a field `format`. */
export interface StreamEndpoint extends Row {
  readonly stream: Operation<void, z.ZodObject, [WriteText]>
  /** The shape of the JSON document, once it is complete. */
  readonly answer?: z.ZodType
  /** By format. */
  readonly contentTypes: Readonly<Record<'json' | 'csv', string>>
}

/** An endpoint whose answer is a file. */
export interface FileEndpoint extends Row {
  readonly file: Operation<BackupDownload>
  readonly contentType: string
}

/** An endpoint whose answer is events, sent as they happen until the client leaves. */
export interface FeedEndpoint extends Row {
  /** What it accepts. */
  readonly feed: z.ZodObject
  /** The data of each event, by its name. */
  readonly events: Readonly<Record<string, z.ZodObject>>
}

/** An endpoint about the session of the browser that calls it. */
export interface SessionCall extends Row {
  /** Only the calls that begin one need no credential. */
  readonly session: 'begins' | 'exists'
  /** What it accepts. */
  readonly input: z.ZodObject
  readonly answer: z.ZodType
}

/** A body with files. Reading one of this size takes about 1 GB of memory. */
export const fileBodyBytesMax = 32 * 1_048_576

/**
 * Returns the written row with its defaults: reading needs the role viewer, a change the role
 * operator; the names in a path are those of `exampleNames`.
 */
export function rowOf<const More extends Written>(id: string, written: More): Row & More {
  const [method, path] = written.route.split(' ') as [Method, string]
  const names = Object.entries(exampleNames).filter(([name]) => path.includes(`{${name}}`))
  return {
    id,
    role: method === 'GET' ? 'viewer' : 'operator',
    ...written,
    method,
    path,
    example: { ...Object.fromEntries(names), ...written.example },
  }
}

/** Returns whether a token with this role may call the endpoint. */
export function mayCall(
  role: AdminRole,
  { role: least, isForCredits }: Pick<Row, 'role' | 'isForCredits'>,
): boolean {
  if (role === 'credits') return isForCredits === true
  return operatorRoles.indexOf(role) >= operatorRoles.indexOf(least)
}

/** Returns the endpoints of a subject, by the names that they are written under. */
export function endpoints<Values extends Readonly<Record<string, unknown>>>(
  subject: string,
  written: { readonly [Name in keyof Values]: WrittenEndpoint<Values[Name]> },
): { readonly [Name in keyof Values]: Endpoint<Values[Name]> } {
  const given = new Map<string, WrittenEndpoint<unknown>>(Object.entries(written))
  const reads = new Set([...given.values()].map(({ read }) => read))
  const endpointOf = (name: string): Endpoint => {
    const row = given.get(name)
    if (row === undefined) throw new TypeError(`${subject} has no endpoint ${name}`)
    const { read, id = `${subject}.${name}`, isExported = false, ...rest } = row
    return {
      ...rowOf(id, isExported ? exportedRow(id, rest) : rest),
      ...(read !== undefined && { read: endpointOf(read) }),
      answer: rest.operation.answer,
      isTagged: reads.has(name),
    }
  }
  return Object.fromEntries([...given.keys()].map((name) => [name, endpointOf(name)])) as {
    readonly [Name in keyof Values]: Endpoint<Values[Name]>
  }
}

/** Returns the row of a list with its form for CSV. */
function exportedRow(id: string, row: Written & Call<unknown>): Written & Call<unknown> {
  const { operation, ...said } = row
  const list = operation as AnsweringOperation<Page<object>>
  return {
    ...said,
    operation: withFormat(list),
    csv: rowOf(id, { ...said, stream: printList(list), contentTypes: listTypes }),
  }
}

const listTypes = { json: 'application/json', csv: 'text/csv; charset=utf-8' } as const

/** Names and ids that stand in examples. */
export const exampleNames = {
  account: 'acme',
  key: 'key_exampleofakey',
  token: 'key_exampleofatoken',
  adminToken: 'key_exampleofanadmintoken',
  vendor: 'alpha',
  model: 'large-1',
  channel: 'alpha-main',
  request: 'ex_exampleofarequest',
  target: 'ops',
  alert: 'alr_exampleofanalert',
  audit: 'aud_exampleofanaudit',
  member: 'mem_exampleofamember',
  note: 'note_exampleofanote',
  reconciliation: 'rec_exampleofareconciliation',
  batch: 'batch_exampleofabatch',
} as const

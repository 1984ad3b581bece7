/**
 * A gateway's admin API as a place where commands work: an endpoint's row and input in, the operation's
 * outcome out, as on the store. The invariant: a change is sent again only where the server recognises the
 * repetition, so a lost answer books nothing twice.
 */
import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { errorCatalogue } from '../../base/error-catalogue.ts'
import type { ErrorCode } from '../../base/errors.ts'
import type { Secret } from '../../base/secret.ts'
import type { Endpoint, StreamEndpoint } from '../../operations/endpoint.ts'
import type { WriteText } from '../../operations/list-text.ts'
import { refusalOfInput, type OperationRefusal, type Outcome } from '../../operations/operation.ts'
import { requestOf, type ApiRequest, type RequestRow } from './request.ts'
import { roundTrip, type ApiAnswer } from './round-trip.ts'
import { describeFailure, ServerError, wasSent } from './server-error.ts'

/** A server and the admin token for it. */
export interface ServerPlace {
  readonly url: URL
  readonly token: Secret
}

/** Calls an endpoint. Rejects with a `ServerError` where there is no usable answer. */
export async function callServer<Value>(
  place: ServerPlace,
  endpoint: Endpoint<Value>,
  input: object,
): Promise<Outcome<Value>> {
  // The same sentence about the same mistake, and nothing is sent.
  const refusal = refusalOfInput(endpoint.operation.input, { ...input, ...endpoint.fixed })
  if (refusal !== undefined) return refusal
  const request = requestOf(endpoint, input)
  const answer = await send(place, endpoint, request, readWhole)
  return readAnswer(place, endpoint, answer)
}

/** Writes the answer of an endpoint while it comes. Rejects where it is not complete. */
export async function streamServer(
  place: ServerPlace,
  endpoint: StreamEndpoint,
  input: object,
  write: WriteText,
): Promise<Outcome<void>> {
  const refusal = refusalOfInput(endpoint.stream.input, { ...input, ...endpoint.fixed })
  if (refusal !== undefined) return refusal
  const opened = await openAnswer(place, endpoint, input)
  if (opened.kind === 'refusal') return opened
  try {
    for await (const piece of opened.value.body.setEncoding('utf8')) await write(String(piece))
  } catch (error) {
    throw describeFailure(error, place.url, false)
  }
  return { kind: 'done', value: undefined }
}

/** Returns an answer whose body is read while it comes. */
export async function openAnswer(
  place: ServerPlace,
  row: RequestRow,
  input: object,
): Promise<Outcome<ApiAnswer>> {
  const answer = await send(place, {}, requestOf(row, input), (sent) => Promise.resolve(sent))
  const { status, body, headers } = answer
  if (status === 200) return { kind: 'done', value: answer }
  return refusalOfAnswer(place, row, { status, headers, text: await text(body) })
}

interface ReadAnswer {
  readonly status: number
  readonly headers: ApiAnswer['headers']
  readonly text: string
}

async function readWhole({ status, headers, body }: ApiAnswer): Promise<ReadAnswer> {
  return { status, headers, text: await text(body) }
}

/** Sends a request and has its answer read; once more where the connection ends and that is harmless. */
async function send<Read>(
  { url, token }: ServerPlace,
  { repeats }: Pick<Endpoint, 'repeats'>,
  request: ApiRequest,
  read: (answer: ApiAnswer) => Promise<Read>,
): Promise<Read> {
  const headers = {
    authorization: `Bearer ${token.reveal()}`,
    ...(repeats !== undefined && { 'idempotency-key': randomUUID() }),
  }
  const once = async (): Promise<Read> => read(await roundTrip(url, request, headers))
  const isChange = request.method !== 'GET'
  const isRepeatable = !isChange || repeats !== undefined
  try {
    return await once()
  } catch (error) {
    const mayHaveChanged = isChange && wasSent(error)
    if (!isRepeatable || !wasSent(error)) throw describeFailure(error, url, mayHaveChanged)
  }
  try {
    return await once()
  } catch (error) {
    throw describeFailure(error, url, isChange)
  }
}

function readAnswer<Value>(
  place: ServerPlace,
  endpoint: Endpoint<Value>,
  answer: ReadAnswer,
): Outcome<Value> {
  // The server gives a secret once; that answer was lost, and this one repeats it without the secret.
  if (endpoint.repeats === 'secret' && answer.headers['idempotency-replayed'] === 'true')
    throw new ServerError(
      'The connection ended before the secret came, and it is not shown again. Run the command again; if list shows what it has made, revoke or delete that.',
    )
  return answer.status >= 200 && answer.status < 300
    ? readValue(place.url, endpoint, parseJson(answer.text))
    : refusalOfAnswer(place, endpoint, answer)
}

/** Returns the operation's refusal. Throws where the answer is none. */
function refusalOfAnswer(
  { url }: ServerPlace,
  row: Pick<RequestRow, 'method' | 'path'>,
  { status, headers, text: body }: ReadAnswer,
): OperationRefusal {
  if (status >= 300 && status < 400)
    throw new ServerError(
      `${url.origin} answers with a redirect to ${headers.location ?? 'another address'}. Give the address of the admin listener itself.`,
    )
  const refusal = refusalOf(parseJson(body))
  if (refusal?.code === 'access.credential_invalid')
    return { ...refusal, message: tokenRefused(url) }
  if (refusal !== undefined) return refusal
  if (status === 404) throw new ServerError(unknownEndpoint(url, row))
  throw new ServerError(
    `${url.origin} answers with status ${status} and no explanation. Check that this is the address of Turnpike's admin listener.`,
  )
}

function readValue<Value>(url: URL, endpoint: Endpoint<Value>, document: unknown): Outcome<Value> {
  const parsed = endpoint.answer.safeParse(document)
  // A newer server may say more than this program knows.
  const isKnown = parsed.error?.issues.every(({ code }) => code === 'unrecognized_keys') ?? true
  // The document itself: its fields are in the order of the operation.
  if (isKnown) return { kind: 'done', value: document as Value }
  throw new ServerError(
    `${url.origin} answers in a form that this program does not know (${endpoint.id}). Use the version of Turnpike that the server runs, and check that this is the address of its admin listener.`,
  )
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function tokenRefused({ origin }: URL): string {
  return `${origin} refuses the admin token: it is unknown, revoked or expired. Give another one in TURNPIKE_TOKEN.`
}

function unknownEndpoint(url: URL, { method, path }: Pick<RequestRow, 'method' | 'path'>): string {
  return `${url.origin} does not know ${method} /admin/v1${path}. It runs another version of Turnpike, or this is not the address of its admin listener.`
}

/** Members of problem details (RFC 9457) that are no facts for programs. */
const plainMembers = new Set([
  'type',
  'title',
  'status',
  'detail',
  'instance',
  'code',
  'errors',
  'request_id',
])

/** Reads problem details into the refusal that the operation gave. Undefined for anything else. */
function refusalOf(document: unknown): OperationRefusal | undefined {
  if (typeof document !== 'object' || document === null) return undefined
  const problem = document as Readonly<Record<string, unknown>>
  const { code, detail } = problem
  if (typeof code !== 'string' || typeof detail !== 'string') return undefined
  if (!Object.hasOwn(errorCatalogue, code) || code === 'http.not_found') return undefined
  const facts = Object.entries(problem).filter(([name]) => !plainMembers.has(name))
  return {
    kind: 'refusal',
    code: code as ErrorCode,
    message: detail,
    ...(facts.length > 0 && { details: Object.fromEntries(facts) }),
  }
}

/**
 * A plain client over `node:http` for this folder's tests: sends one request on a connection of
 * its own and tells exactly what came back and how it ended. Reads no events and repairs nothing.
 */
import { request as openRequest } from 'node:http'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'

export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
  /** `clean`: the body came to its end; `broken`: the connection did first. */
  readonly ending: 'clean' | 'broken'
}

export interface SendOptions {
  readonly method?: string
  /** An object is sent as JSON, a text as it stands. */
  readonly body?: unknown
  /** Over a set of standard ones, which an empty value takes away. */
  readonly headers?: Readonly<Record<string, string>>
  /** Called for each part of the body as it comes. */
  readonly onChunk?: (chunk: Buffer, request: ClientRequest) => void
}

const standardHeaders = {
  'content-type': 'application/json',
  authorization: 'Bearer test-credential',
  'anthropic-version': '2023-06-01',
}

/** Rejects when the connection ends before a response head. */
export function send(url: string, options: SendOptions = {}): Promise<Received> {
  const { method = 'POST', body, headers, onChunk } = options
  return new Promise((resolve, reject) => {
    const request = openRequest(url, {
      method,
      agent: false,
      headers: withoutEmpty({ ...standardHeaders, ...headers }),
    })
    request.once('error', reject)
    request.once('response', (response) => {
      request.off('error', reject)
      request.on('error', () => undefined) // The response tells of it too.
      collect(response, (chunk) => onChunk?.(chunk, request), resolve)
    })
    request.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body))
  })
}

function withoutEmpty(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
}

function collect(
  response: IncomingMessage,
  onChunk: (chunk: Buffer) => void,
  resolve: (received: Received) => void,
): void {
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    onChunk(chunk)
  })
  response.on('error', () => undefined) // Told by `ending`.
  response.once('close', () => {
    const body = Buffer.concat(chunks)
    resolve({
      status: response.statusCode ?? 0,
      headers: response.headers,
      body,
      text: body.toString('utf8'),
      ending: response.complete ? 'clean' : 'broken',
    })
  })
}

/** The JSON of every `data:` line but `[DONE]`. */
export function eventData(text: string): readonly unknown[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice(6)) as unknown)
}

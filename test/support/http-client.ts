/**
 * A client that shows exactly what came over the wire: status, raw headers, body bytes as they
 * arrived, and whether the answer ended cleanly or was cut.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http'

export interface WireRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: Buffer | string
  /** Called with each chunk; returning `stop` drops the connection at once. */
  readonly onChunk?: (chunk: Buffer, index: number) => 'stop' | undefined
}

export interface WireAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  readonly chunks: readonly Buffer[]
  /** The message was complete by its own framing. False = cut, by them or by us. */
  readonly isComplete: boolean
}

/** Rejects only where no response head came. */
export function send(url: string, wire: WireRequest = {}): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, {
      method: wire.method ?? (wire.body === undefined ? 'GET' : 'POST'),
      headers: { ...wire.headers },
      agent: false,
    })
    request.on('error', reject)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      const finish = (): void =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          rawHeaders: response.rawHeaders,
          body: Buffer.concat(chunks),
          chunks,
          isComplete: response.complete,
        })
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        if (wire.onChunk?.(chunk, chunks.length - 1) === 'stop') request.destroy()
      })
      // A cut answer is an outcome here, not an error.
      response.on('error', () => undefined)
      response.on('close', finish)
    })
    request.end(wire.body)
  })
}

/** A JSON POST with a client key. */
export function post(
  url: string,
  key: string,
  body: unknown,
  extra: Readonly<Record<string, string>> = {},
): Promise<WireAnswer> {
  return send(url, {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...extra },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  })
}

/** The figures of `/v1/usage`. */
export async function usage(
  url: string,
  token: string,
  period = 'day',
): Promise<Record<string, unknown>> {
  const answer = await send(`${url}/v1/usage?period=${period}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  return JSON.parse(answer.body.toString()) as Record<string, unknown>
}

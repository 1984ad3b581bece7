/**
 * A vendor that says exactly what a test scripts, byte by byte and write by write, and keeps what it
 * was sent. For bytes that the simulated vendors cannot send; all other tests use those.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface VendorRequest {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

type VendorScript = (response: ServerResponse, request: VendorRequest) => void | Promise<void>

export interface ScriptedVendor {
  /** Any path in front of `/v1/` may be added, as for a channel. */
  readonly url: string
  /** The latest request. */
  readonly last: VendorRequest | undefined
  readonly requestCount: number
  /** What happens to every request from now on. */
  answer(script: VendorScript): void
  close(): Promise<void>
}

export async function startScriptedVendor(): Promise<ScriptedVendor> {
  let script: VendorScript = (response) => void response.writeHead(500).end()
  let last: VendorRequest | undefined
  let requestCount = 0
  const server = createServer((request, response) => {
    void readAll(request).then((body) => {
      const { method = '', url = '', rawHeaders } = request
      last = { method, target: url, rawHeaders, body }
      requestCount++
      return script(response, last)
    })
  })
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    get last() {
      return last
    },
    get requestCount() {
      return requestCount
    },
    answer(next) {
      script = next
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Writes each piece in its own turn, so that each is a separate write on the socket. */
export async function writePieces(
  response: ServerResponse,
  pieces: readonly Buffer[],
): Promise<void> {
  for (const piece of pieces) {
    response.write(piece)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

/** The bytes cut at the given places, which may stand in any order and more than once. */
export function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places)]
    .filter((place) => place > 0 && place < bytes.length)
    .sort((left, right) => left - right)
  const starts = [0, ...sorted]
  return starts.map((start, index) => bytes.subarray(start, starts[index + 1] ?? bytes.length))
}

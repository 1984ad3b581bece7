/** An OTLP collector on loopback. It keeps what it gets; the official Python classes decode it. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { runChild } from '../clients/support/child.ts'
import { preparePython } from '../clients/support/python.ts'

export interface ReceivedSpan {
  readonly resource: Readonly<Record<string, unknown>>
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string
  readonly name: string
  /** 2 = server, 3 = client. */
  readonly kind: number
  /** 2 = error. */
  readonly status: number
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface Collector {
  readonly url: string
  readonly bodies: readonly Buffer[]
  readonly headers: readonly IncomingHttpHeaders[]
  /** What it does with requests from now on; `hang` gives no answer. */
  behaviour: 'take' | 'refuse' | 'hang'
  close(): Promise<void>
}

export async function startCollector(): Promise<Collector> {
  const bodies: Buffer[] = []
  const headers: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      headers.push(request.headers)
      if (collector.behaviour === 'hang') return
      if (collector.behaviour === 'refuse') response.writeHead(500)
      else bodies.push(Buffer.concat(chunks))
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const collector: Collector = {
    url: `http://127.0.0.1:${port}`,
    bodies,
    headers,
    behaviour: 'take',
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return collector
}

const python = await preparePython('otlp')
/** Why spans cannot be decoded here; undefined where they can. */
export const missingPython = python.kind === 'missing' ? python.reason : undefined

/** Returns the spans that have come, in the order in which they began. */
export async function decodeSpans({ bodies }: Collector): Promise<readonly ReceivedSpan[]> {
  if (python.kind === 'missing') throw new Error(python.reason)
  const { code, stdout, stderr } = await runChild({
    command: python.python,
    args: [join(import.meta.dirname, 'decode-spans.py')],
    env: {},
    cwd: import.meta.dirname,
    timeoutMs: 60_000,
    input: bodies.map((body) => body.toString('base64')).join('\n'),
  })
  if (code !== 0) throw new Error(stderr)
  const spans = JSON.parse(stdout) as ReceivedSpan[]
  return spans.sort((left, right) => left.startMs - right.startMs)
}

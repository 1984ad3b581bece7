/**
 * The simulated vendors: one server that answers both formats for any number of channels, does on
 * request whatever real vendors do wrong, and keeps the exact record of what it served. It knows
 * nothing of the gateway and shares no counting with it.
 *
 *   const sandbox = await startSandbox()                         // a free port on loopback
 *   channel url: `${sandbox.url}/alpha-main`                      // anything before /v1/ names the channel
 *   prompt: 'hello [[marker: m1]] [[sandbox: output=40; event_delay_ms=5]]'
 *   header: x-sandbox: status=429; retry_after=2                 // or model `large-1+status=429`
 *   sandbox.faults.set('alpha-main', 'error=529')                // or an object, a list, (index) => …
 *   sandbox.faults.set('alpha-main', { hold: 'gate@before_terminal' })
 *   await sandbox.faults.reached('gate'); sandbox.faults.release('gate')
 *   const served = await sandbox.log.waitFor((record) => record.marker === 'm1' && record.phase === 'closed')
 *   billedParts(served)                                          // what a charge must agree with
 *
 * All directives with their meaning: directives.ts. All error rows: error-presets.ts. Gate points:
 * pacer.ts. Endpoints for use from another process: control.ts. The same log on disk: log-file.ts.
 */
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { systemClock } from '../base/clock.ts'
import type { Clock } from '../base/clock.ts'
import { controlPrefix, serveControl } from './control.ts'
import { serveExchange } from './exchange.ts'
import type { Vendors } from './exchange.ts'
import { Faults } from './faults.ts'
import type { FaultControl } from './faults.ts'
import { LogFile } from './log-file.ts'
import { RecordLog } from './log.ts'
import type { SandboxLog } from './log.ts'

export interface SandboxOptions {
  readonly host?: string
  /** 0 or absent: a free one. */
  readonly port?: number
  /** Where to append the log, synced at each phase of each exchange. */
  readonly logFile?: string
  readonly clock?: Clock
  /** Whether a request without a credential is answered with 401; true unless told otherwise. */
  readonly requireCredential?: boolean
  /** The exact credential of a channel; other channels take any. */
  readonly credentials?: Readonly<Record<string, string>>
  /** Keeps request and answer bytes in the records' memory. */
  readonly keepBodies?: boolean
  /** Keeps records at all; a benchmark turns it off. */
  readonly keepRecords?: boolean
}

export interface Sandbox {
  readonly url: string
  readonly port: number
  readonly log: SandboxLog
  readonly faults: FaultControl
  /** Ends idle connections, as a vendor's time limit does between two requests. */
  closeIdleConnections(): void
  /** Ends every exchange that still runs. */
  close(): Promise<void>
}

const backlog = 4096

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const host = options.host ?? '127.0.0.1'
  const file = options.logFile === undefined ? undefined : new LogFile(options.logFile)
  const log = new RecordLog({ file, isKept: options.keepRecords ?? true })
  const faults = new Faults()
  let count = 0
  const vendors: Vendors = {
    clock: options.clock ?? systemClock,
    log,
    faults,
    keepsBodies: options.keepBodies ?? false,
    requireCredential: options.requireCredential ?? true,
    credentials: new Map(Object.entries(options.credentials ?? {})),
    nextIndex: () => count++,
  }
  const server = createServer({ keepAliveTimeout: 75_000, requestTimeout: 0 })
  server.on('request', (request, response) => serve(vendors, request, response))
  const port = await listen(server, host, options.port ?? 0)
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    log,
    faults,
    closeIdleConnections: () => server.closeIdleConnections(),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
      // Responses tell of their end a turn after their sockets; their records belong in the log.
      await new Promise<void>((resolve) => setImmediate(resolve))
      log.close()
    },
  }
}

function serve(vendors: Vendors, request: IncomingMessage, response: ServerResponse): void {
  const isControl = request.url?.startsWith(controlPrefix) === true
  const served = isControl
    ? serveControl(vendors, request, response)
    : serveExchange(vendors, request, response)
  served.catch((error: unknown) => {
    // A fault of the sandbox itself must be loud: it would otherwise pass for a vendor's fault.
    const text = error instanceof Error ? error.message : String(error)
    process.emitWarning(`Sandbox: ${text}`)
    if (response.headersSent) response.destroy()
    else response.writeHead(500, { 'content-type': 'text/plain' }).end(`sandbox: ${text}`)
  })
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog }, () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/** The program `turnpike sandbox`: prints its address and serves until it is told to stop. */
export async function runSandbox(
  options: SandboxOptions,
  onReady: (url: string) => void,
): Promise<void> {
  const sandbox = await startSandbox(options)
  const interrupted = new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  onReady(sandbox.url)
  await interrupted
  await sandbox.close()
}

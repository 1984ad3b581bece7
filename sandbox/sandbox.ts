/**
 * The simulated vendors: one server that answers both formats for any number of channels, shows on
 * request every fault of real vendors, and records exactly what it served. It knows nothing of the
 * gateway and shares no counting with it. readme.md shows how to use it.
 */
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { systemClock } from '../src/base/clock.ts'
import type { Clock } from '../src/base/clock.ts'
import { controlPrefix, serveControl } from './control.ts'
import { serveExchange } from './exchange.ts'
import type { Vendors } from './exchange.ts'
import { Faults } from './faults.ts'
import type { FaultControl } from './faults.ts'
import { LogFile, RecordLog } from './log.ts'
import type { SandboxLog } from './log.ts'
import { VendorAccounts } from './responses/accounts.ts'

export interface SandboxOptions {
  readonly host?: string
  /** 0 or absent: a free port. */
  readonly port?: number
  /** File to which the log is appended, synced at each phase of each exchange. */
  readonly logFile?: string
  readonly clock?: Clock
  /** Whether a request without a credential gets a 401. Default: true. */
  readonly requireCredential?: boolean
  /** The only credential that a channel accepts; other channels accept any. */
  readonly credentials?: Readonly<Record<string, string>>
  /** Keeps the bytes of requests and answers in the records. */
  readonly keepBodies?: boolean
  /** Whether records are kept; a benchmark turns it off. Default: true. */
  readonly keepRecords?: boolean
}

export interface Sandbox {
  readonly url: string
  readonly port: number
  readonly log: SandboxLog
  readonly faults: FaultControl
  /** Closes idle connections, as a vendor's idle timeout does. */
  closeIdleConnections(): void
  /** Ends every running exchange and stops the server. */
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
    accounts: new VendorAccounts(),
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
      // Responses report their end one turn after their sockets; the log must have their records.
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
    // A fault of the sandbox itself must be visible: it would otherwise look like a vendor's fault.
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

/** Runs `turnpike sandbox`: reports its address and serves until SIGINT or SIGTERM. */
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

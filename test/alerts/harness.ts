/**
 * The alerts of a gateway without the gateway: a store, a manual clock, and receivers on loopback that
 * behave as a test says. Each alerting is one node; the one that the test names has the lease.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '../../src/base/random.ts'
import { Secret } from '../../src/base/secret.ts'
import { createOutgoingPost } from '../../src/http/client/outgoing-post.ts'
import { alertEndpoints } from '../../src/operations/alerts/endpoints.ts'
import { Alerting, type AlertingOptions } from '../../src/operations/alerts/alerting.ts'
import type { Finding } from '../../src/operations/alerts/alert-kind.ts'
import { applyObservation } from '../../src/operations/alerts/raise.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import type { Database } from '../../src/storage/database.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { openNewStore } from '../support/test-store.ts'

export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly id: string
}

type Behaviour = (request: IncomingMessage, response: ServerResponse) => void

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** How it answers from now on; 200 by default. */
  behave(behaviour: Behaviour): void
  close(): Promise<void>
}

export const answers =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (_request, response) =>
    void response.writeHead(status, headers).end()

/** A receiver on loopback; port 0 = a free one. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = []
  let behaviour: Behaviour = answers(200)
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const headers = request.headers as Record<string, string>
      const { url: path = '' } = request
      received.push({ path, headers, body, id: headers['webhook-id'] ?? '' })
      behaviour(request, response)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    behave: (next) => void (behaviour = next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export interface AlertBench {
  readonly clock: ManualClock
  readonly database: Database
  readonly context: OperationContext
  readonly faults: unknown[]
  /** Starts a node; with the lease unless `hasLease` says no. */
  node(options?: Partial<AlertingOptions>): Alerting
  /** Adds a webhook target; returns its secret. */
  addWebhook(name: string, url: string, fields?: object): Promise<string>
  /** The conditions of this kind that hold now; a channel of the same name is the cause, or the one given. */
  observe(kind: Finding['kind'], subjects: readonly string[], channel?: string): Promise<void>
  /**
   * Time passes in steps of a second; after each, the nodes have done what they do then. `isHanging`: what
   * they send has no answer yet.
   */
  pass(seconds: number, nodes: readonly Alerting[], isHanging?: boolean): Promise<void>
  close(): Promise<void>
}

export async function openBench(startAt = '2026-11-21T12:00:00Z'): Promise<AlertBench> {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-alerts-'))
  const database = await openNewStore(folder)
  await migrate(database)
  const clock = new ManualClock(Date.parse(startAt))
  const masterKey = new Secret('5'.repeat(64))
  const faults: unknown[] = []
  const context: OperationContext = {
    database,
    clock,
    actor: 'test',
    masterKey: () => masterKey,
    environment: () => undefined,
    runCheck: () => Promise.reject(new Error('no channel is checked here')),
  }
  return {
    clock,
    database,
    context,
    faults,
    node: (options = {}) =>
      Alerting.start({
        database,
        random: seededRandom(1),
        membership: { addTask: () => undefined, hasTask: () => true },
        sending: {
          clock,
          masterKey: () => masterKey,
          region: 'test',
          post: createOutgoingPost({ clock, timeoutMs: 10_000, allowed: ['127.0.0.0/8'] }),
          mail: undefined,
        },
        nodeName: 'node-1',
        isStoreAvailable: () => true,
        readTime: () => clock.now(),
        runOutWithinMs: 86_400_000,
        backupMaxAgeMs: undefined,
        onNotice: () => undefined,
        onBalances: () => undefined,
        onWaiting: () => undefined,
        onAttempt: () => undefined,
        onError: (error) => faults.push(error),
        ...options,
      }),
    async addWebhook(name, url, fields = {}) {
      const input = { name, format: 'webhook', address: url, ...fields }
      const made = valueOf(await alertEndpoints.create.operation(context, input)) as {
        readonly secret: string
      }
      return made.secret
    },
    async observe(kind, subjects, channel) {
      const findings = subjects.map((subject) => ({
        kind,
        subject,
        channel: channel ?? subject,
        title: `${kind} of ${subject}`,
        text: 'Look at it.',
        facts: { subject },
      }))
      const options = { database, onNotice: () => undefined }
      await applyObservation(options, { kinds: [kind], findings }, clock.now())
    },
    async pass(seconds, nodes, isHanging = false) {
      for (let passed = 0; passed < seconds; passed++) {
        clock.advance(1_000)
        for (const node of nodes) {
          await node.round()
          if (!isHanging) await node.settled()
        }
      }
    },
    async close() {
      await database.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The messages that a receiver has taken, each id once. */
export function distinct(received: readonly Received[]): ReadonlyMap<string, Received> {
  return new Map(received.map((one) => [one.id, one]))
}

export function dataOf(received: Received | undefined): Record<string, unknown> {
  const body = JSON.parse(received?.body ?? '{}') as { readonly data?: Record<string, unknown> }
  return body.data ?? {}
}

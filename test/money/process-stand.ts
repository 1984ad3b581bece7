/**
 * A store, the simulated vendors and accounts that outlive gateways: each gateway is a process of
 * its own on the same store, to be killed, stopped and started again.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock, type Clock } from '../../src/base/clock.ts'
import { createAccount } from '../../src/operations/accounts.ts'
import { auditLedger, type AuditView } from '../../src/operations/audit.ts'
import { applyCatalogue } from '../../src/operations/catalogue.ts'
import type { OperationContext } from '../../src/operations/context.ts'
import { createClientKey, createReaderToken } from '../../src/operations/keys.ts'
import { demoCatalogueText } from '../../src/sandbox/demo.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { loadMasterKey } from '../../src/storage/master-key.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openStore } from '../../src/storage/open.ts'
import type { Milestone } from '../../src/telemetry/events.ts'
import type { CrashOrder, GatewayReport } from '../support/crashing-gateway.ts'
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy.ts'
import type { AccountWish, TestAccount } from '../support/gateway.ts'

export interface GatewayProcess {
  readonly url: string
  readonly adminUrl: string
  readonly pid: number
  /** From now on the process kills itself at this milestone, whichever exchange reaches it. */
  crashAt(milestone: Milestone): Promise<void>
  signal(signal: NodeJS.Signals): void
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

export interface StandOptions {
  /** An empty database on PostgreSQL; a SQLite file of the stand's own unless told. */
  readonly storeUrl?: string
  /** Vendors are reached through a proxy that can cut. */
  readonly isVendorCut?: boolean
  /** The vendors' clock, where a test paces their events. */
  readonly vendorClock?: Clock
}

export interface Stand {
  readonly folder: string
  readonly storeUrl: string
  /** On SQLite: the store's file. */
  readonly storePath: string
  readonly sandbox: Sandbox
  readonly vendorProxy: FaultProxy | undefined
  readonly context: OperationContext
  createAccount(wish?: AccountWish): Promise<TestAccount>
  /** `before` is put in front of the command, such as a tracer with its arguments. */
  start(
    settings?: Readonly<Record<string, string>>,
    before?: readonly string[],
  ): Promise<GatewayProcess>
  audit(): Promise<AuditView>
  close(): Promise<void>
}

const script = join(import.meta.dirname, '..', 'support', 'crashing-gateway.ts')

export async function openStand(options: StandOptions = {}): Promise<Stand> {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-'))
  const storePath = join(folder, 'turnpike.db')
  const sandbox = await startSandbox({
    logFile: join(folder, 'vendors.log'),
    ...(options.vendorClock === undefined ? {} : { clock: options.vendorClock }),
  })
  const storeUrl = options.storeUrl ?? `sqlite:${storePath}`
  const database = await openStore(storeUrl)
  await migrate(database)
  const vendorProxy = options.isVendorCut === true ? await startFaultProxy(sandbox) : undefined
  const vendorUrl = vendorProxy === undefined ? sandbox.url : `http://127.0.0.1:${vendorProxy.port}`
  const masterKey = loadMasterKey({ key: undefined, filePath: join(folder, 'master.key') })
  const context: OperationContext = {
    database,
    clock: systemClock,
    actor: 'test',
    masterKey: () => masterKey,
    environment: () => undefined,
  }
  const applied = await applyCatalogue(context, demoCatalogueText(vendorUrl), { dryRun: false })
  if (applied.kind === 'mistakes') throw new Error(JSON.stringify(applied.list))
  const processes = new Set<GatewayProcess>()
  let accountCount = 0

  return {
    folder,
    storeUrl,
    storePath,
    sandbox,
    vendorProxy,
    context,
    async createAccount(wish = {}) {
      const name = `account-${++accountCount}`
      const account = await createAccount(context, { name, balance_usd: '10', ...wish })
      const key = await createClientKey(context, { account: name, name: 'test' })
      const token = await createReaderToken(context, { account: name, name: 'test' })
      return { id: account.id, name, key: key.secret, token: token.secret }
    },
    start: (settings = {}, before = []) =>
      startProcess({ storeUrl, folder, settings, before, processes }),
    audit: () => auditLedger(context),
    async close() {
      for (const running of processes) {
        running.signal('SIGKILL')
        await running.ended
      }
      await vendorProxy?.close()
      await sandbox.close()
      await database.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface ProcessOptions {
  readonly storeUrl: string
  readonly folder: string
  readonly settings: Readonly<Record<string, string>>
  readonly before: readonly string[]
  readonly processes: Set<GatewayProcess>
}

async function startProcess(options: ProcessOptions): Promise<GatewayProcess> {
  const env: Record<string, string | undefined> = {
    ...process.env,
    TURNPIKE_LISTEN: '127.0.0.1:0',
    TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
    TURNPIKE_STORE: options.storeUrl,
    TURNPIKE_MASTER_KEY_FILE: join(options.folder, 'master.key'),
  }
  for (const [key, value] of Object.entries(options.settings))
    env[`TURNPIKE_${key.toUpperCase()}`] = value
  const [tracer, ...tracerArguments] = options.before
  const child = fork(script, [], {
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    ...(tracer === undefined
      ? {}
      : { execPath: tracer, execArgv: [...tracerArguments, process.execPath] }),
  })
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal ?? code ?? 0)
    })
  })
  child.stdout?.resume()
  const ready = await nextReport(child, 'ready')
  const running: GatewayProcess = {
    url: `http://127.0.0.1:${ready.port}`,
    adminUrl: `http://127.0.0.1:${ready.adminPort}`,
    pid: ready.pid,
    async crashAt(milestone) {
      const armed = nextReport(child, 'armed')
      child.send({ crashAt: milestone } satisfies CrashOrder)
      await armed
    },
    signal: (signal) => void process.kill(ready.pid, signal),
    ended,
  }
  options.processes.add(running)
  void ended.then(() => options.processes.delete(running))
  return running
}

function nextReport<Kind extends GatewayReport['kind']>(
  child: ChildProcess,
  kind: Kind,
): Promise<Extract<GatewayReport, { kind: Kind }>> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error(`the gateway ended before it was ${kind}`))
    child.once('exit', onExit)
    child.on('message', function receive(message: GatewayReport) {
      if (message.kind !== kind) return
      child.off('message', receive)
      child.off('exit', onExit)
      resolve(message as Extract<GatewayReport, { kind: Kind }>)
    })
  })
}

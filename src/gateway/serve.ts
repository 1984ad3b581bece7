/**
 * `turnpike serve`: settings → app → wait for a signal → drain → close. It turns signals and fatal
 * faults into a graceful shutdown and an exit code.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import { createApp, type App, type Effects, type ProcessPlace } from './app.ts'
import { thisBuild } from '../base/build.ts'
import { systemClock } from '../base/clock.ts'
import { outageReasonOf } from '../base/errors.ts'
import { createLog } from '../base/log.ts'
import { systemRandom } from '../base/random.ts'
import { processEnvironment } from '../settings/read.ts'
import { adoptAdminToken, createFirstAdminToken, hasAdminToken } from '../operations/keys/keys.ts'
import { contextOn } from '../operations/context.ts'
import { valueOf, type OperationContext } from '../operations/operation.ts'
import { processMemory, releaseMemoryWhenIdle } from './memory.ts'
import type { Orders, SupervisorLink } from '../processes/supervisor-link.ts'
import { nodeNameOf } from '../processes/node-name.ts'
import type { Config } from '../settings/list.ts'
import { explainStart, ignoreOutputErrors } from './start-errors.ts'
import type { Database } from '../storage/database.ts'
import { parseStoreLocation } from '../storage/location.ts'
import { loadMasterKey } from '../storage/master-key.ts'
import type { TracePoint } from '../relay/stages.ts'

export interface Ready {
  readonly app: App
  /** Created on the first start of a store. */
  readonly adminToken: FirstAdminToken | undefined
}

/** Shown on a terminal; elsewhere output is kept by others, so the token is in a file of its own. */
export type FirstAdminToken =
  | { readonly kind: 'shown'; readonly secret: string }
  | { readonly kind: 'saved'; readonly path: string }

export interface ServeOptions {
  /** The file descriptor of the log; stdout by default. */
  readonly logDescriptor?: number
  /**
   * Called when this process holds the store, before it serves. The start may still fail, so the callback
   * must write nothing.
   */
  readonly onStoreOpen?: (database: Database) => Promise<void>
  /**
   * Called when both listeners accept. Secrets that are shown once are created here, so that a failed
   * start creates none. `adminToken` is set only on the first start of a store.
   */
  readonly onReady?: (ready: Ready) => Promise<void> | void
  readonly onTracePoint?: (point: TracePoint, exchangeId: string) => void
  /**
   * How long further signals count as repeats of the first: one Ctrl-C may come from the terminal, npm
   * and a start script. 0 by default.
   */
  readonly signalEchoMs?: number
  /** Where this process is one of several. */
  readonly supervisor?: SupervisorLink | undefined
}

/** Serves until a signal and resolves with the exit code. A second signal ends it at once. */
export async function serve(config: Config, options: ServeOptions = {}): Promise<number> {
  disablePretenuring()
  ignoreOutputErrors()
  const { logDescriptor = 1, supervisor } = options
  const place = supervisor && placeOf(supervisor, config)
  const log = createLog({
    level: config.logLevel,
    format: config.logFormat,
    descriptor: logDescriptor,
    ...(place === undefined ? {} : { node: place.name }),
  })
  const { logger } = log
  const masterKey = loadMasterKey({ key: config.masterKey, filePath: config.masterKeyFile })
  const environment = processEnvironment()
  const ending = Promise.withResolvers<number>()
  let ready: Ready
  try {
    ready = await start(config, {
      ...(place === undefined ? {} : { place }),
      clock: systemClock,
      random: systemRandom,
      log: logger,
      droppedLogLines: () => log.droppedCount(),
      environment: (name) => environment[name],
      masterKey: () => masterKey,
      onFatal(error) {
        logger.fatal({ error: error.name, reason: outageReasonOf(error) }, 'store failed, stopping')
        ending.resolve(1)
      },
      ...(options.onStoreOpen === undefined ? {} : { onStoreOpen: options.onStoreOpen }),
      ...(options.onTracePoint === undefined ? {} : { onTracePoint: options.onTracePoint }),
    })
  } catch (error) {
    await log.close()
    throw explainStart(error, config)
  }
  const { app } = ready
  if (supervisor === undefined)
    endOnSignals({ signalEchoMs: options.signalEchoMs ?? 0, ending, logger }, () =>
      app.drain(config.drainTimeoutMs),
    )
  if (supervisor === undefined && config.processes !== 1)
    logger.info({ processes: config.processes, store: kindOf(config) }, 'one process serves')
  const { version, commit } = thisBuild()
  logger.info({ address: app.address, admin: app.adminAddress, version, commit }, 'serving')
  try {
    await options.onReady?.(ready)
  } catch (error) {
    await app.close()
    await log.close()
    throw error
  }
  if (app.snapshot().vendors.size === 0)
    logger.warn('catalogue is empty; run turnpike apply -f FILE')
  supervisor?.follow(ordersFor(app, config, logger)).then(ending.resolve, ending.reject)
  const memory = releaseMemoryWhenIdle(processMemory(systemClock))
  const exitCode = await ending.promise
  memory.close()
  // After a fatal fault some figures may not be readable; the end must not wait for them.
  await supervisor?.part(await app.reportMetrics().catch(() => []))
  logger.info({ exitCode }, 'ended')
  await log.close()
  // After a fatal fault or a second signal, open sockets and threads must not keep the process running.
  if (exitCode !== 0) process.exit(exitCode)
  return exitCode
}

/** Only a store on PostgreSQL takes several processes, and `npm start` runs one. */
function kindOf({ store }: Config): string {
  return parseStoreLocation(store).kind
}

function placeOf(supervisor: SupervisorLink, config: Config): ProcessPlace {
  const { slot, count, listenDescriptor, adminListenDescriptor } = supervisor
  return {
    name: nodeNameOf(config.nodeName ?? hostname(), slot),
    count,
    listenDescriptor,
    adminListenDescriptor,
    uniteMetrics: (reportOwn) => supervisor.uniteMetrics(reportOwn),
  }
}

function ordersFor(app: App, { drainTimeoutMs }: Config, log: Logger): Orders {
  return {
    drain() {
      log.info('draining')
      return app.drain(drainTimeoutMs)
    },
    retire() {
      log.info('retiring')
      return app.retire(drainTimeoutMs)
    },
    reportMetrics: () => app.reportMetrics(),
    log,
  }
}

interface SignalSite {
  readonly signalEchoMs: number
  readonly ending: PromiseWithResolvers<number>
  readonly logger: Logger
}

/** Includes SIGHUP (the terminal closes): by default Node would end at once, even under `nohup`. */
function endOnSignals(
  { signalEchoMs, ending, logger }: SignalSite,
  drain: () => Promise<void>,
): void {
  let drainingSinceMs: number | undefined
  const stop = (signal: NodeJS.Signals): void => {
    const nowMs = systemClock.monotonic()
    if (drainingSinceMs !== undefined) {
      if (nowMs - drainingSinceMs >= signalEchoMs) ending.resolve(1)
      return
    }
    drainingSinceMs = nowMs
    logger.info({ signal }, 'draining')
    drain().then(
      () => ending.resolve(0),
      (error: unknown) => ending.reject(error),
    )
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  process.on('SIGUSR2', () =>
    logger.warn('SIGUSR2 ignored: one process cannot be replaced; see the setting processes'),
  )
}

async function start(config: Config, effects: Effects): Promise<Ready> {
  const app = await createApp(config, effects)
  try {
    return { app, adminToken: await settleAdminToken(app.database, config, effects.log) }
  } catch (error) {
    await app.close()
    throw error
  }
}

/**
 * Adopts the admin token of the settings, or creates the first one of a store. It runs last, so that a
 * failed start revokes no token and shows none.
 */
async function settleAdminToken(
  database: Database,
  config: Config,
  log: Effects['log'],
): Promise<FirstAdminToken | undefined> {
  const context = contextOn(database, { actor: 'serve' })
  if (config.adminToken !== undefined) {
    valueOf(await adoptAdminToken(context, config.adminToken))
    return undefined
  }
  if (await hasAdminToken(context.database)) return undefined
  if (process.stdout.isTTY) {
    const made = await createFirstAdminToken(context)
    return made === undefined ? undefined : { kind: 'shown', secret: made.secret }
  }
  return saveFirstAdminToken(context, adminTokenPath(config), log)
}

function adminTokenPath({ store }: Config): string {
  const location = parseStoreLocation(store)
  const name = location.kind === 'sqlite' ? location.path : location.database
  return `${location.kind === 'sqlite' ? name : resolve(encodeURIComponent(name))}.admin-token`
}

/**
 * Creates the token only when there is a file for it: a token that nobody has would keep the next start
 * from creating one.
 */
async function saveFirstAdminToken(
  context: OperationContext,
  path: string,
  log: Effects['log'],
): Promise<FirstAdminToken | undefined> {
  const draftPath = `${path}.${process.pid}.draft`
  let file: number
  try {
    file = openSync(draftPath, 'wx', 0o600)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : undefined
    log.warn({ path, reason }, 'no admin token; run turnpike admin-token create')
    return undefined
  }
  try {
    const made = await createFirstAdminToken(context)
    if (made === undefined) return undefined
    writeSync(file, `${made.secret}\n`)
    fsyncSync(file)
    renameSync(draftPath, path)
    return { kind: 'saved', path }
  } finally {
    closeSync(file)
    rmSync(draftPath, { force: true })
  }
}

/**
 * Turns off V8's pretenuring. V8 takes objects that live for one exchange for long-lived ones and creates
 * them in the old generation. There they keep garbage of their exchange alive until the next full
 * collection, which makes every young collection several times as expensive.
 */
function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

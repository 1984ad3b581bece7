/**
 * `turnpike serve`: settings → app → wait for a signal → drain → close. It turns signals and fatal
 * faults into a graceful shutdown and an exit code.
 */
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { createApp, type App } from './app.ts'
import type { Effects, ProcessPlace } from './effects.ts'
import { thisBuild } from '../base/build.ts'
import { systemClock } from '../base/clock.ts'
import { outageReasonOf } from '../base/errors.ts'
import { createLog } from '../base/log.ts'
import { systemRandom } from '../base/random.ts'
import { processEnvironment } from '../settings/read.ts'
import { contextOn } from '../operations/context.ts'
import { settleAdminToken, type FirstAdminToken } from '../operations/keys/first-admin-token.ts'
import { disablePretenuring, processMemory, releaseMemoryWhenIdle } from './memory.ts'
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

/** After a drain: for threads and connections that have not ended. */
const lastWorkMs = 5_000

/** Serves until a signal and resolves with the exit code. A second signal ends it at once. */
export async function serve(config: Config, options: ServeOptions = {}): Promise<number> {
  disablePretenuring()
  ignoreOutputErrors()
  const { logDescriptor = 1, supervisor } = options
  const place = supervisor && placeOf(supervisor, config)
  const log = createLog({
    level: config.logLevel,
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
  // After a fatal fault some metrics may not be readable; the end must not wait for them.
  await supervisor?.part(await app.reportMetrics().catch(() => []))
  logger.info({ exitCode }, 'ended')
  await log.close()
  // After a fatal fault or a second signal, open sockets and threads must not keep the process running.
  if (exitCode !== 0) process.exit(exitCode)
  // Nor after a drain; this timer keeps nothing running either.
  systemClock.after(lastWorkMs, () => process.exit(exitCode))
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
    const adminToken = await settleAdminToken(contextOn(app.database, { actor: 'serve' }), {
      given: config.adminToken,
      isTerminal: process.stdout.isTTY,
      store: config.store,
      onUnsaved: (unsaved) =>
        effects.log.warn(unsaved, 'no admin token; run turnpike admin-token create'),
    })
    return { app, adminToken }
  } catch (error) {
    await app.close()
    throw error
  }
}

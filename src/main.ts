/**
 * `turnpike serve`: settings → app → wait for a signal → drain → close. It turns signals and fatal
 * faults into an orderly end and an exit code; everything else is the app's.
 */
import { setFlagsFromString } from 'node:v8'
import { createApp, type App, type Effects } from './app.ts'
import { systemClock } from './base/clock.ts'
import { GatewayError } from './base/errors.ts'
import { createLog } from './base/log.ts'
import { systemRandom } from './base/random.ts'
import { outageReasonOf } from './base/store-outage.ts'
import { explainSystemError } from './base/system-error.ts'
import { processEnvironment } from './config.ts'
import { adoptAdminToken, createFirstAdminToken } from './operations/keys.ts'
import type { OperationContext } from './operations/context.ts'
import type { Config } from './settings.ts'
import type { Database } from './storage/database.ts'
import { loadMasterKey } from './storage/master-key.ts'
import type { Milestone } from './telemetry/events.ts'

export interface Ready {
  readonly app: App
  /** Made on this start, the store's first; it is never shown again. */
  readonly adminToken: string | undefined
}

export interface ServeOptions {
  /** The file descriptor for the log; stdout unless told otherwise. */
  readonly logDescriptor?: number
  /**
   * Called once this process may serve the store, before it does. A port may still be taken, so nothing
   * is to be written yet.
   */
  readonly onStoreOpen?: (database: Database) => Promise<void>
  /**
   * Called once both listeners accept, so that what is made and shown once is made by a start that
   * has worked. `adminToken` is there on a store's first start only.
   */
  readonly onReady?: (ready: Ready) => Promise<void> | void
  readonly onMilestone?: (milestone: Milestone, exchangeId: string) => void
  /**
   * For how long after the first signal more of them still mean that one: a terminal, npm and a
   * starting script each tell of the same Ctrl-C. None by default.
   */
  readonly signalEchoMs?: number
}

/** Serves until a signal; resolves with the exit code. A second signal ends it at once. */
export async function serve(config: Config, options: ServeOptions = {}): Promise<number> {
  keepNewObjectsYoung()
  outliveReaders()
  const { logDescriptor = 1 } = options
  const log = createLog({ level: config.logLevel, descriptor: logDescriptor })
  const { logger } = log
  const masterKey = loadMasterKey({ key: config.masterKey, filePath: config.masterKeyFile })
  const environment = processEnvironment()
  const ending = Promise.withResolvers<number>()
  let ready: Ready
  try {
    ready = await start(config, {
      clock: systemClock,
      random: systemRandom,
      log: logger,
      droppedLogLines: () => log.droppedCount(),
      environment: (name) => environment[name],
      masterKey: () => masterKey,
      onFatal(error) {
        logger.fatal(
          { error: error.name, reason: outageReasonOf(error) },
          'the store failed; ending',
        )
        ending.resolve(1)
      },
      ...(options.onStoreOpen === undefined ? {} : { onStoreOpen: options.onStoreOpen }),
      ...(options.onMilestone === undefined ? {} : { onMilestone: options.onMilestone }),
    })
  } catch (error) {
    await log.close()
    const { listen, adminListen } = config
    throw explainStart(error, [listen.port, adminListen.port])
  }
  const { app } = ready
  drainOnSignals({ signalEchoMs: options.signalEchoMs ?? 0, ending }, (signal) => {
    logger.info({ signal }, 'draining')
    return app.drain(config.drainTimeoutMs)
  })
  logger.info({ address: app.address, admin: app.adminAddress }, 'serving')
  try {
    await options.onReady?.(ready)
  } catch (error) {
    await app.close()
    await log.close()
    throw error
  }
  if (app.snapshot().vendors.size === 0)
    logger.warn(
      'there is no catalogue, so nothing can be relayed: `turnpike apply -f FILE`, or `npm start` for a demo',
    )
  const exitCode = await ending.promise
  logger.info({ exitCode }, 'ended')
  await log.close()
  // What is still open after a fatal fault or a second signal must not keep the process.
  if (exitCode !== 0) process.exit(exitCode)
  return exitCode
}

interface SignalSite {
  readonly signalEchoMs: number
  readonly ending: PromiseWithResolvers<number>
}

/** SIGHUP among them, a terminal that closes: Node would end at once, even where `nohup` had it ignored. */
function drainOnSignals(
  { signalEchoMs, ending }: SignalSite,
  drain: (signal: NodeJS.Signals) => Promise<void>,
): void {
  let drainingSinceMs: number | undefined
  const stop = (signal: NodeJS.Signals): void => {
    const nowMs = systemClock.monotonic()
    if (drainingSinceMs !== undefined) {
      if (nowMs - drainingSinceMs >= signalEchoMs) ending.resolve(1)
      return
    }
    drainingSinceMs = nowMs
    drain(signal).then(
      () => ending.resolve(0),
      (error: unknown) => ending.reject(error),
    )
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
}

async function start(config: Config, effects: Effects): Promise<Ready> {
  const app = await createApp(config, effects)
  try {
    return { app, adminToken: await settleAdminToken(app.database, config.adminToken) }
  } catch (error) {
    await app.close()
    throw error
  }
}

/**
 * Adopts the token of the settings, or makes a store's first one, which is shown once. It comes last:
 * a start that fails revokes nobody's token and shows none.
 */
async function settleAdminToken(
  database: Database,
  token: Config['adminToken'],
): Promise<string | undefined> {
  const context = contextOn(database)
  if (token === undefined) return (await createFirstAdminToken(context))?.secret
  await adoptAdminToken(context, token)
  return undefined
}

function contextOn(database: Database): OperationContext {
  return {
    database,
    clock: systemClock,
    actor: 'serve',
    masterKey() {
      throw new GatewayError('gateway.internal', 'starting seals nothing')
    },
    environment: () => undefined,
  }
}

function explainStart(error: unknown, ports: readonly number[]): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE')
    return explainSystemError(error) ?? error
  return new GatewayError(
    'operations.conflict',
    `A port is taken (${ports.join(' or ')}). Stop what uses it, or set TURNPIKE_LISTEN and TURNPIKE_ADMIN_LISTEN.`,
    { cause: error },
  )
}

/**
 * Whoever reads what is said here may go, and the gateway stays. Touching the streams has Node make
 * a pipe non-blocking, so that a reader that only hangs never holds a thread that writes to it: the
 * end of the process would wait for that thread.
 */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
}

/**
 * V8 takes objects that live for one exchange for long-lived ones and then makes them among the old.
 * There they keep all that their exchange has left alive until the next full collection, which
 * makes every young collection several times as dear.
 */
function keepNewObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

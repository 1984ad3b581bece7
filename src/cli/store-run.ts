/**
 * A command's work on a store of this host: it reads the settings, opens the store, and makes the context
 * that operations need. The store is open only while the work runs.
 */
import { userInfo } from 'node:os'
import { commandClock, systemClock } from '../base/clock.ts'
import type { Secret } from '../base/secret.ts'
import {
  formatMistakes,
  loadConfig,
  processEnvironment,
  type SettingMistake,
} from '../settings/read.ts'
import type { UpstreamPools } from '../http/client/pool.ts'
import { openMailer } from '../operations/alerts/mailer.ts'
import { contextOn } from '../operations/context.ts'
import { mailingOf } from '../operations/members/mailing.ts'
import type { OperationContext } from '../operations/operation.ts'
import type { RunCheck } from '../operations/channels/run-check.ts'
import { listSettings } from '../settings/in-force.ts'
import type { Config } from '../settings/list.ts'
import type { Database } from '../storage/database.ts'
import { loadMasterKey } from '../storage/master-key.ts'
import type { Migrated } from '../storage/migrate.ts'

/** The words of the command line. Operations check them. */
export interface Given {
  readonly arguments: readonly (string | undefined)[]
  readonly options: Readonly<Record<string, unknown>>
}

/** How a command uses the store. All but `as_it_is` bring its schema up to date. */
export type StoreUse =
  | 'existing' // fails where there is no store, so that a typo in a path creates none
  | 'create' // creates the store where there is none
  | 'preview' // reads the store, or an empty one where there is none
  | 'as_it_is' // must exist; its schema is not changed

/** An open store. */
export interface StoreRun {
  readonly context: OperationContext
  readonly config: Config
  /** What opening the store changed in its schema. */
  readonly migrated: Migrated | undefined
}

/** `processes` replaces the setting. */
export function readConfig(options: Given['options'], processes?: string): Config {
  const config = options['config']
  const loaded = loadConfig({
    options: { config: typeof config === 'string' ? config : undefined, processes },
    env: processEnvironment(),
    cwd: process.cwd(),
  })
  if (loaded.kind === 'mistakes') throw new SettingsError(loaded.list)
  return loaded.config
}

/** Opens the store, runs `work`, closes the store. */
export async function withStore<Value>(
  { options }: Pick<Given, 'options'>,
  use: StoreUse,
  work: (run: StoreRun) => Promise<Value>,
): Promise<Value> {
  const config = readConfig(options)
  const { database, migrated } = await openStore(config.store, use)
  const checks = lazyChecks(config)
  try {
    const context = commandContext(config, database, checks.run)
    return await work({ context, config, migrated })
  } finally {
    await checks.close()
    await database.close()
  }
}

interface Opened {
  readonly database: Database
  readonly migrated: Migrated | undefined
}

async function openStore(store: string, use: StoreUse): Promise<Opened> {
  const storage = await import('../storage/open.ts')
  if (use === 'preview' && !(await storage.hasStore(store)))
    return { database: storage.emptyDatabase, migrated: undefined }
  if (use === 'existing' || use === 'as_it_is') await storage.requireStore(store)
  const database = await storage.openStore(store)
  if (use === 'as_it_is') return { database, migrated: undefined }
  try {
    const migrated = await storage.bringUpToDate(store, database)
    return { database, migrated }
  } catch (error) {
    await database.close()
    throw error
  }
}

function commandContext(config: Config, database: Database, runCheck: RunCheck): OperationContext {
  const environment = processEnvironment()
  let masterKey: Secret | undefined
  return contextOn(database, {
    clock: commandClock,
    actor: `cli:${loginName()}`,
    masterKey: () =>
      (masterKey ??= loadMasterKey({ key: config.masterKey, filePath: config.masterKeyFile })),
    environment: (name) => environment[name],
    runCheck,
    settings: listSettings(config),
    mailing: mailingOf(config, openMailer(config)),
    ...(config.taxPercent !== undefined && { taxThousandths: config.taxPercent }),
  })
}

function loginName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that has no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

const checkTimeoutMs = 30_000

interface Checks {
  readonly run: RunCheck
  close(): Promise<void>
}

/** Sends checks with the gateway's own client, which is opened for the first one. */
function lazyChecks({ connectTimeoutMs }: Pick<Config, 'connectTimeoutMs'>): Checks {
  let opening: Promise<UpstreamPools> | undefined
  const open = async (): Promise<UpstreamPools> => {
    const { UpstreamPools } = await import('../http/client/pool.ts')
    return new UpstreamPools({ connectTimeoutMs })
  }
  return {
    async run(check) {
      const { checkChannel } = await import('../channels/probes/check.ts')
      const upstream = await (opening ??= open())
      return checkChannel({ ...check, timeoutMs: checkTimeoutMs }, { upstream, clock: systemClock })
    },
    close: async () => (await opening)?.close(),
  }
}

/** Settings with mistakes. */
export class SettingsError extends Error {
  readonly list: readonly SettingMistake[]

  constructor(list: readonly SettingMistake[]) {
    super(`The settings have mistakes:\n${formatMistakes(list)}`)
    this.name = 'SettingsError'
    this.list = list
  }
}

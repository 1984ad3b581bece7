/**
 * What every command shares: settings, the opened store, and how an answer or an error is shown.
 * With `--json` exactly one JSON document goes to stdout and nothing else, also where the command
 * failed; what went wrong is told to people on stderr in any case.
 */
import { userInfo } from 'node:os'
import { type Command, CommanderError } from 'commander'
import { systemClock } from '../base/clock.ts'
import { GatewayError } from '../base/errors.ts'
import type { Secret } from '../base/secret.ts'
import { explainSystemError } from '../base/system-error.ts'
import { formatMistakes, loadConfig, processEnvironment, type SettingMistake } from '../config.ts'
import type { OperationContext } from '../operations/context.ts'
import type { Config } from '../settings.ts'
import type { Database } from '../storage/database.ts'
import type { Migrated } from '../storage/migrate.ts'
import { loadMasterKey } from '../storage/master-key.ts'

export const exitCodes = { done: 0, failed: 1, wrongUsage: 2 } as const

/** What a command has to say: a JSON value for programs, text for people. */
export interface Answer {
  readonly json: unknown
  readonly text: string
  readonly exitCode?: number
  /** What to do where the answer could not be written: for one that is given only once. */
  readonly ifLost?: string
}

/** What was written on the command line. Operations judge it; nothing here trusts it. */
export interface Given {
  readonly arguments: readonly (string | undefined)[]
  readonly options: Readonly<Record<string, unknown>>
}

/** Thrown for settings that cannot be used; ends the program with exit code 2. */
class SettingsError extends Error {
  readonly list: readonly SettingMistake[]

  constructor(list: readonly SettingMistake[]) {
    super(formatMistakes(list))
    this.name = 'SettingsError'
    this.list = list
  }
}

/** Thrown where a command could not do what was asked, with facts for programs beside the text. */
export class CommandFailure extends Error {
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(failure: {
    readonly code: string
    readonly message: string
    readonly details: Readonly<Record<string, unknown>>
  }) {
    super(failure.message)
    this.name = 'CommandFailure'
    this.code = failure.code
    this.details = failure.details
  }
}

export function readConfig(options: Given['options']): Config {
  const config = options['config']
  const loaded = loadConfig({
    options: { config: typeof config === 'string' ? config : undefined },
    env: processEnvironment(),
    cwd: process.cwd(),
  })
  if (loaded.kind === 'mistakes') throw new SettingsError(loaded.list)
  return loaded.config
}

/**
 * Makes a commander action of a command that needs neither settings nor a store. No answer: the
 * command has written it itself.
 */
export function answering(work: (given: Given) => Promise<Answer | undefined>) {
  return async (...parameters: unknown[]): Promise<void> => {
    const command = parameters.at(-1) as Command
    const given: Given = {
      arguments: command.processedArgs as (string | undefined)[],
      options: command.optsWithGlobals(),
    }
    const answer = await work(given)
    if (answer === undefined) return
    const text = given.options['json'] === true ? toJson(answer.json) : answer.text
    const { ifLost } = answer
    if (ifLost !== undefined)
      process.stdout.prependOnceListener('error', (error) => endWithLoss(error, ifLost))
    if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
    process.exitCode = answer.exitCode ?? exitCodes.done
  }
}

/** The same for a command that works on the store; it is open while `work` runs. */
export function onStore(
  work: (context: OperationContext, given: Given, config: Config) => Promise<Answer | undefined>,
) {
  return answering((given) => withStore(given, (context, config) => work(context, given, config)))
}

/** The store is open while `work` runs; for a command that has something to do before. */
export async function withStore<Result>(
  { options }: Given,
  work: (context: OperationContext, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(options)
  const { database } = await openStore(config)
  return closingAfter(config, database, work)
}

/** The same for a command that tells what is the matter with a store: it is not brought up to date. */
export async function withStoreAsItIs<Result>(
  { options }: Given,
  work: (context: OperationContext, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(options)
  const { openStore: open } = await import('../storage/open.ts')
  return closingAfter(config, await open(config.store), work)
}

async function closingAfter<Result>(
  config: Config,
  database: Database,
  work: (context: OperationContext, config: Config) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(buildContext(config, database), config)
  } finally {
    await database.close()
  }
}

/** The same on a store that nobody has made: nothing is there, and nothing can be written. */
export async function withoutStore<Result>(
  { options }: Given,
  work: (context: OperationContext) => Promise<Result>,
): Promise<Result> {
  const { emptyDatabase } = await import('../storage/empty-database.ts')
  return work(buildContext(readConfig(options), emptyDatabase))
}

/** Puts text on standard output; resolves when more may follow. */
export type Write = (text: string) => Promise<void>

/** The same for a command that writes its answer, JSON or not, while it works. */
export function onStoreWriting(
  work: (context: OperationContext, given: Given, write: Write) => Promise<void>,
) {
  return onStore(async (context, given) => {
    await work(context, given, writeOut)
    return undefined
  })
}

async function writeOut(text: string): Promise<void> {
  if (process.stdout.write(text)) return
  await new Promise((resolve) => process.stdout.once('drain', resolve))
}

/** A reader that has seen enough, such as `head`, is no failure of ours; a disk that is full is one. */
export function endWithOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(exitCodes.done)
  endWithLoss(error, 'The answer is not complete.')
}

function endWithLoss(error: NodeJS.ErrnoException, advice: string): void {
  const reason = error.code === 'ENOSPC' ? 'there is no space left' : error.message
  process.stderr.write(`turnpike: Standard output cannot be written: ${reason}. ${advice}\n`)
  process.exit(exitCodes.failed)
}

/** Opens the store and brings it to this program's schema; a newer one is refused. */
export async function openStore(
  config: Config,
): Promise<{ readonly database: Database; readonly migrated: Migrated }> {
  const { openStore: open } = await import('../storage/open.ts')
  const { migrate } = await import('../storage/migrate.ts')
  const { refuseUnfinishedCopy } = await import('../storage/store-copy.ts')
  const database = await open(config.store)
  try {
    const migrated = await migrate(database)
    await refuseUnfinishedCopy(database)
    return { database, migrated }
  } catch (error) {
    await database.close()
    throw error
  }
}

function buildContext(config: Config, database: Database): OperationContext {
  const environment = processEnvironment()
  let masterKey: Secret | undefined
  return {
    database,
    clock: systemClock,
    actor: `cli:${loginName()}`,
    masterKey: () =>
      (masterKey ??= loadMasterKey({ key: config.masterKey, filePath: config.masterKeyFile })),
    environment: (name) => environment[name],
  }
}

function loginName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that no user list knows.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

/** Shows why a command did not do what was asked, and says with which code the program ends. */
export function reportError(error: unknown, wantsJson: boolean): number {
  const { code, message, exitCode, details } = describeError(error)
  if (wantsJson) process.stdout.write(toJson({ error: { code, message, ...details } }))
  process.stderr.write(`turnpike: ${message}\n`)
  return exitCode
}

interface Described {
  readonly code: string
  readonly message: string
  readonly exitCode: number
  readonly details?: Readonly<Record<string, unknown>>
}

function describeError(thrown: unknown): Described {
  const error = explainSystemError(thrown) ?? thrown
  if (error instanceof SettingsError) {
    const message = `these settings cannot be used:\n${error.message}`
    return {
      code: 'settings',
      message,
      exitCode: exitCodes.wrongUsage,
      details: { mistakes: error.list },
    }
  }
  if (error instanceof CommandFailure) {
    const { code, message, details } = error
    return { code, message, exitCode: exitCodes.failed, details }
  }
  if (error instanceof CommanderError) {
    const isHelp = error.code === 'commander.help'
    const message = isHelp ? 'name a command; --help lists them' : error.message
    return {
      code: 'usage',
      message: message.replace(/^error: /, ''),
      exitCode: exitCodes.wrongUsage,
    }
  }
  if (error instanceof GatewayError) {
    const isUsage = error.code === 'operations.invalid'
    const exitCode = isUsage ? exitCodes.wrongUsage : exitCodes.failed
    return { code: error.code, message: error.message, exitCode }
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'gateway.internal', message, exitCode: exitCodes.failed }
}

export function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

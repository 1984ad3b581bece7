/**
 * What every command shares: it reads settings, opens the store, prints the answer or the error, and
 * sets the exit code. What a command means is decided in operations. The invariant: with `--json`
 * standard output gets exactly one JSON document, also when the command fails.
 */
import { readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { buffer } from 'node:stream/consumers'
import { CommanderError, InvalidArgumentError, type Command } from 'commander'
import { commandClock, systemClock } from '../base/clock.ts'
import { GatewayError } from '../base/errors.ts'
import type { Secret } from '../base/secret.ts'
import { formatMistakes, loadConfig, processEnvironment, type SettingMistake } from '../config.ts'
import type { UpstreamPools } from '../http/client/pool.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import {
  refusalOf,
  type OperationContext,
  type OperationRefusal,
  type Outcome,
} from '../operations/operation.ts'
import type { Page } from '../operations/paging.ts'
import type { RunCheck } from '../operations/run-check.ts'
import type { Config } from '../settings.ts'
import type { Database } from '../storage/database.ts'
import { loadMasterKey } from '../storage/master-key.ts'
import type { Migrated } from '../storage/migrate.ts'
import { formatJson } from './output.ts'

export const exitCodes = { done: 0, failed: 1, wrongUsage: 2 } as const

/** A command's result: JSON for programs, text for people. */
export interface Answer {
  readonly json: unknown
  readonly text: string
  readonly exitCode?: number
  /** What to do if the answer cannot be written, where it is given only once. */
  readonly ifLost?: string
}

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

export interface Run extends Given {
  /** Calls the operation of an endpoint. */
  call<Value>(endpoint: Endpoint<Value>, input: object): Promise<Outcome<Value>>
  /** Reads all pages of a list, or its first `countMax` items. */
  callAll<Item>(
    endpoint: Endpoint<Page<Item>>,
    input?: object,
    countMax?: number,
  ): Promise<Outcome<readonly Item[]>>
  readonly context: OperationContext
  readonly config: Config
  /** What opening the store changed in its schema. */
  readonly migrated: Migrated | undefined
  /** The text of the file that `CommandSpec.file` names; of several, the first. */
  readonly text: string | undefined
  /** The texts of all of them. */
  readonly texts: readonly string[]
}

export interface CommandSpec {
  readonly store: StoreUse | ((given: Given) => StoreUse)
  /** A file, or several, to read before the store is opened; `-` is standard input. */
  readonly file?: (given: Given) => unknown
}

/** What a command returns. Undefined: it has written its answer itself. */
type Result = Answer | OperationRefusal | undefined

/** Makes the action of a command that works on the store. The store is open while `work` runs. */
export function command(spec: CommandSpec, work: (run: Run) => Promise<Result>) {
  return plainCommand(async (given) => {
    const paths = [spec.file?.(given)].flat().filter((path) => typeof path === 'string')
    const texts = await Promise.all(paths.map(readText))
    const use = typeof spec.store === 'function' ? spec.store(given) : spec.store
    return withStore(given, use, (run) => work({ ...run, text: texts[0], texts }))
  })
}

/** Makes the action of a command that opens no store, or opens it itself. */
export function plainCommand(work: (given: Given) => Promise<Result>) {
  return async (...parameters: unknown[]): Promise<void> => {
    const parsed = parameters.at(-1) as Command
    const given: Given = {
      arguments: parsed.processedArgs as (string | undefined)[],
      options: parsed.optsWithGlobals(),
    }
    print(await work(given), given.options['json'] === true)
  }
}

/** Turns an operation's outcome into the result of a command. */
export function shown<Value>(outcome: Outcome<Value>, show: (value: Value) => Result): Result {
  return outcome.kind === 'done' ? show(outcome.value) : outcome
}

/** Asks at the terminal. Where there is none, or with `--json`, only `--yes` agrees: then it throws. */
export async function hasConsent(question: string, { options }: Given): Promise<boolean> {
  if (options['yes'] === true) return true
  if (options['json'] === true || !process.stdin.isTTY || !process.stderr.isTTY)
    throw new InvalidArgumentError(`${question} Add --yes to agree.`)
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const reply = await terminal.question(`${question} Do it? [y/N] `)
    return /^y(es)?$/i.test(reply.trim())
  } catch (error) {
    // Ctrl-C and Ctrl-D.
    if (error instanceof Error && error.name === 'AbortError') return false
    throw error
  } finally {
    terminal.close()
  }
}

/** The answer of a command whose question was not answered with yes. */
export const declined: Answer = {
  json: undefined,
  text: 'Nothing was changed.',
  exitCode: exitCodes.failed,
}

// --- settings and store ---------------------------------------------------------------------------

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

/** Opens the store, runs `work`, closes the store. */
export async function withStore<Value>(
  { arguments: words, options }: Given,
  use: StoreUse,
  work: (run: Run) => Promise<Value>,
): Promise<Value> {
  const config = readConfig(options)
  const { database, migrated } = await openStore(config.store, use)
  const checks = lazyChecks(config)
  try {
    const context = { ...buildContext(config, database), runCheck: checks.run }
    const call = <Result>(endpoint: Endpoint<Result>, input: object): Promise<Outcome<Result>> =>
      endpoint.operation(context, { ...input, ...endpoint.fixed })
    const callAll: Run['callAll'] = (endpoint, input = {}, countMax = Infinity) =>
      readPages(call, endpoint, { input, countMax })
    const given = { arguments: words, options, text: undefined, texts: [] }
    return await work({ ...given, call, callAll, context, config, migrated })
  } finally {
    await checks.close()
    await database.close()
  }
}

async function readPages<Item>(
  call: Run['call'],
  endpoint: Endpoint<Page<Item>>,
  { input, countMax }: { readonly input: object; readonly countMax: number },
): Promise<Outcome<readonly Item[]>> {
  const items: Item[] = []
  let cursor: string | null = null
  do {
    const outcome: Outcome<Page<Item>> = await call(endpoint, {
      ...input,
      limit: Math.min(itemsPerPage, countMax - items.length),
      ...(cursor !== null && { cursor }),
    })
    if (outcome.kind === 'refusal') return outcome
    items.push(...outcome.value.items)
    cursor = outcome.value.next_cursor
  } while (cursor !== null && items.length < countMax)
  return { kind: 'done', value: items }
}

const itemsPerPage = 1_000

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
  const { migrate } = await import('../storage/migrate.ts')
  const { refuseUnfinishedCopy } = await import('../storage/store-copy.ts')
  try {
    const migrated = await migrate(database)
    await refuseUnfinishedCopy(database)
    return { database, migrated }
  } catch (error) {
    await database.close()
    throw error
  }
}

function buildContext(config: Config, database: Database): Omit<OperationContext, 'runCheck'> {
  const environment = processEnvironment()
  let masterKey: Secret | undefined
  return {
    database,
    clock: commandClock,
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
    // A container may run under a number that has no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

/** Reads how many lines to show. */
export function parseCount(text: string): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= 10_000) return count
  throw new InvalidArgumentError('It must be a whole number from 1 to 10000.')
}

/** Reads a file; `-` is standard input, read to its end. */
async function readText(path: string): Promise<string> {
  try {
    const bytes = path === '-' ? await buffer(process.stdin) : await readFile(path)
    return bytes.toString('utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const what = path === '-' ? 'Standard input' : `The file ${path}`
    throw new InvalidArgumentError(`${what} cannot be read: ${reason}.`)
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

// --- output and errors ----------------------------------------------------------------------------

function print(result: Result, wantsJson: boolean): void {
  if (result === undefined) return
  if ('kind' in result) {
    process.exitCode = printFailure(failureOfRefusal(result), wantsJson)
    return
  }
  const text = wantsJson ? formatJson(result.json) : result.text
  const { ifLost } = result
  if (ifLost !== undefined)
    process.stdout.prependOnceListener('error', (error) => endWithLoss(error, ifLost))
  if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  process.exitCode = result.exitCode ?? exitCodes.done
}

/** Writes text to standard output. Resolves when more may follow. */
export async function write(text: string): Promise<void> {
  if (process.stdout.write(text)) return
  await new Promise((resolve) => process.stdout.once('drain', resolve))
}

/** Ends the process: with 0 where the reader closed the pipe, such as `head`; with 1 otherwise. */
export function endWithOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(exitCodes.done)
  endWithLoss(error, 'The output is not complete.')
}

function endWithLoss(error: NodeJS.ErrnoException, advice: string): void {
  const reason = error.code === 'ENOSPC' ? 'there is no space left' : error.message
  process.stderr.write(`turnpike: Standard output cannot be written: ${reason}. ${advice}\n`)
  process.exit(exitCodes.failed)
}

/** Settings with mistakes. */
class SettingsError extends Error {
  readonly list: readonly SettingMistake[]

  constructor(list: readonly SettingMistake[]) {
    super(`The settings have mistakes:\n${formatMistakes(list)}`)
    this.name = 'SettingsError'
    this.list = list
  }
}

interface Failure {
  readonly code: string
  readonly message: string
  readonly exitCode: number
  /** Facts for programs, beside code and message. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** Prints what an exception means and returns the exit code. */
export function reportError(error: unknown, wantsJson: boolean): number {
  return printFailure(failureOfError(error), wantsJson)
}

function printFailure({ code, message, exitCode, details }: Failure, wantsJson: boolean): number {
  if (wantsJson) process.stdout.write(formatJson({ error: { code, message, ...details } }))
  process.stderr.write(`turnpike: ${message}\n`)
  return exitCode
}

/** Invalid words are wrong usage; a file with mistakes (`details`) is a failure of the command. */
function failureOfRefusal({ code, message, details }: OperationRefusal): Failure {
  const isUsage = code === 'operations.invalid' && details === undefined
  return { code, message, details, exitCode: isUsage ? exitCodes.wrongUsage : exitCodes.failed }
}

function failureOfError(error: unknown): Failure {
  if (error instanceof SettingsError) {
    const { message, list } = error
    const details = { mistakes: list }
    return { code: 'settings', message, exitCode: exitCodes.wrongUsage, details }
  }
  if (error instanceof CommanderError) {
    const isHelp = error.code === 'commander.help'
    const message = isHelp ? 'Name a command. --help lists them.' : error.message
    return {
      code: 'usage',
      message: message.replace(/^error: /, ''),
      exitCode: exitCodes.wrongUsage,
    }
  }
  const refusal = refusalOf(error)
  if (refusal !== undefined) return failureOfRefusal(refusal)
  if (error instanceof GatewayError)
    return { code: error.code, message: error.message, exitCode: exitCodes.failed }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'gateway.internal', message, exitCode: exitCodes.failed }
}

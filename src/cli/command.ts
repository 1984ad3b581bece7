/**
 * The common part of all commands: run, print the answer or the error, set the exit code. The meaning
 * of a command is decided in operations. The invariant: with `--json` standard output gets exactly one
 * JSON document, also when the command fails.
 */
import { CommanderError, InvalidArgumentError, type Command } from 'commander'
import { GatewayError } from '../base/errors.ts'
import { refusalOf, type OperationRefusal, type Outcome } from '../operations/operation.ts'
import { formatJson } from './output.ts'
import { requireThisHost } from './place.ts'
import { ServerError } from './remote/server-error.ts'
import { SettingsError, withStore, type Given, type StoreRun, type StoreUse } from './store-run.ts'

export const exitCodes = { done: 0, failed: 1, wrongUsage: 2 } as const

/** A command's result: JSON for programs, text for people. */
export interface Answer {
  readonly json: unknown
  readonly text: string
  readonly exitCode?: number
  /** What to do if the answer cannot be written, where it is given only once. */
  readonly ifLost?: string
}

/** What a command returns. Undefined: it has written its answer itself. */
export type Result = Answer | OperationRefusal | undefined

/** What a command does. */
export type Work = (given: Given) => Promise<Result>

/** Makes the work of a command on a store of this host only. */
export function storeWork(store: StoreUse, work: (run: StoreRun & Given) => Promise<Result>): Work {
  return hostWork((given) => withStore(given, store, (run) => work({ ...given, ...run })))
}

/** Makes the work of a command on this host only. */
export function hostWork(work: Work): Work {
  return (given) => {
    requireThisHost(given.options)
    return work(given)
  }
}

/** Makes the action of a command. */
export function actionOf(work: Work) {
  return async (...parameters: unknown[]): Promise<void> => {
    const parsed = parameters.at(-1) as Command
    const given: Given = {
      // An argument of several words is the last one.
      arguments: parsed.processedArgs.flat() as (string | undefined)[],
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

/** Reads how many lines to show. */
export function parseCount(text: string): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= 10_000) return count
  throw new InvalidArgumentError('It must be a whole number from 1 to 10000.')
}

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
  if (error instanceof ServerError)
    return { code: 'server', message: error.message, exitCode: exitCodes.failed }
  const refusal = refusalOf(error)
  if (refusal !== undefined) return failureOfRefusal(refusal)
  if (error instanceof GatewayError)
    return { code: error.code, message: error.message, exitCode: exitCodes.failed }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'gateway.internal', message, exitCode: exitCodes.failed }
}

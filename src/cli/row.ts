/**
 * A command as a row: its words, and hints over an endpoint. Arguments, options and help come from the
 * schema of the endpoint's input; a row says which fields are arguments, what differs, and how the answer
 * shows. A row with special work shares all but that.
 */
import { Argument, Option, type Command } from 'commander'
import type { Endpoint } from '../operations/endpoint.ts'
import type { Operation } from '../operations/operation.ts'
import type { Page } from '../operations/paging.ts'
import { allColumnsOf, tableOf, textOf, type Column } from './columns.ts'
import {
  actionOf,
  declined,
  exitCodes,
  hasConsent,
  parseCount,
  shown,
  type Answer,
  type Result,
  type Work,
} from './command.ts'
import { addFields, plainly, type Hint } from './field-words.ts'
import { withRun, type Run } from './run.ts'
import type { StoreUse } from './store-run.ts'

export type Input = Readonly<Record<string, unknown>>

/** An argument or option that is no field of an input. */
interface Extra {
  readonly text: string
  readonly parse?: (text: string) => unknown
  readonly isRequired?: true
  /** The words that an argument may be. */
  readonly choices?: readonly string[]
}

interface Words {
  /** Such as `key create`. */
  readonly words: string
  /** One line of help. */
  readonly text: string
  /** Arguments and options that are no fields of an input, by their form in help. */
  readonly more?: Readonly<Record<string, string | Extra>>
  /** Behind the options in help: notes and examples. */
  readonly help?: string
}

export interface CommandRow extends Words {
  /** Adds the special part of the command, and returns its work. */
  readonly prepare: (command: Command) => Work
}

/** Makes the row of a command without an endpoint. */
export function plainRow(row: Words & { readonly work: Work }): CommandRow {
  return { ...row, prepare: () => row.work }
}

/** The facts of a command beside its endpoint. */
interface Hints extends Omit<Words, 'text'> {
  /** The summary of the endpoint without this. */
  readonly text?: string
  /** Fields that are given by their place; those in the path of the endpoint without this. */
  readonly arguments?: readonly string[]
  /** The fields that are options; all without this. */
  readonly options?: readonly string[]
  /** Fields that are none. */
  readonly without?: readonly string[]
  /** What differs from the schema of a field. */
  readonly hints?: Readonly<Record<string, Hint>>
  /** Fields that the command sets itself. */
  readonly fixed?: Input
  /** How the store is used; it must exist without this. */
  readonly store?: StoreUse | ((input: Input) => StoreUse)
  /** A question before all else; a yes goes into the field `confirm`. Undefined = none. */
  readonly ask?: (input: Input) => string | undefined
}

/** An endpoint as far as its input goes. */
type Source = Pick<Endpoint, 'path' | 'summary' | 'fixed' | 'csv'> &
  (Pick<Endpoint, 'operation'> | { readonly stream: Pick<Operation, 'input'> })

type RunWork = (run: Run, input: Input) => Promise<Result>

/** Makes the row of a command with the input of an endpoint, and special work. */
export function runRow(source: Source, row: Hints & { readonly work: RunWork }): CommandRow {
  const { input: schema } = 'stream' in source ? source.stream : source.operation
  const { arguments: places = fieldsIn(source.path), without = [], fixed = {}, hints = {} } = row
  const stranger = [...places, ...without, ...Object.keys(hints)].find(
    (name) => !Object.hasOwn(schema.shape, name),
  )
  if (stranger !== undefined) throw new TypeError(`${row.words} has no field ${stranger}`)
  // Commands print lists in their own forms.
  const format = 'csv' in source && source.csv !== undefined ? ['format'] : []
  const others = new Set([
    ...places,
    ...without,
    ...format,
    ...Object.keys({ ...source.fixed, ...fixed }),
  ])
  const options = row.options ?? Object.keys(schema.shape).filter((name) => !others.has(name))
  return {
    ...row,
    text: row.text ?? plainly(source.summary),
    prepare(command) {
      const readInput = addFields(command, { schema, arguments: places, options, hints })
      return async (given) => {
        const input = { ...(await readInput(given)), ...fixed }
        const question = row.ask?.(input)
        if (question !== undefined && !(await hasConsent(question, given))) return declined
        const confirmed = question === undefined ? input : { ...input, confirm: true }
        const { store = 'existing' } = row
        const use = typeof store === 'function' ? store(input) : store
        return withRun(given, use, (run) => row.work(run, confirmed))
      }
    },
  }
}

function fieldsIn(path: string): readonly string[] {
  return [...path.matchAll(/{(\w+)}/g)].map(([, field = '']) => field)
}

interface CallHints<Value> extends Hints {
  /** The text of the answer, or all of it; all fields of the answer without this. */
  readonly show?: (value: Value) => Answer | string
  /** What `--json` prints; the answer without this. */
  readonly json?: (value: Value) => unknown
  /** Whether the command ends with 1 although it was done. */
  readonly hasFailed?: (value: Value) => boolean
}

/** Makes the row of a command that calls an endpoint, and asks where that wants a confirmation. */
export function callRow<Value extends object>(
  endpoint: Endpoint<Value>,
  row: CallHints<Value>,
): CommandRow {
  const { show = textOf, json = (value) => value, hasFailed = () => false } = row
  const answer = (value: Value): Answer => {
    const view = show(value)
    if (typeof view !== 'string') return view
    const exitCode = hasFailed(value) ? exitCodes.failed : exitCodes.done
    return { json: json(value), text: view, exitCode }
  }
  const work: RunWork = async (run, input) => {
    const outcome = await run.call(endpoint, input)
    const isQuestion =
      outcome.kind === 'refusal' && outcome.code === 'operations.confirmation_required'
    if (!isQuestion) return shown(outcome, answer)
    if (!(await hasConsent(outcome.message, run))) return declined
    return shown(await run.call(endpoint, { ...input, confirm: true }), answer)
  }
  return runRow(endpoint, { ...row, work })
}

interface ListHints<Item extends object> extends Hints {
  /** All fields without this. */
  readonly columns?: readonly Column<Item>[]
  /** Said where there is nothing. */
  readonly empty: string
  /** Said where nothing fits the options. */
  readonly noneFits?: string
  /** The option for how many are shown; all without this. */
  readonly count?: Pick<Hint, 'flags' | 'fallback'>
  /** What `--json` prints; the items without this. */
  readonly json?: (items: readonly Item[]) => unknown
}

/** For a field that says how many items are shown. */
const countHint = { text: 'show at most this many, 1 to 10000', parse: parseCount }

/** Makes the row of a command that shows a list, from as many pages as it needs, as one table. */
export function listRow<Item extends object>(
  endpoint: Endpoint<Page<Item>>,
  row: ListHints<Item>,
): CommandRow {
  const { columns, empty, noneFits = empty, count, json = (items) => items } = row
  const without = ['cursor', ...(count === undefined ? ['limit'] : [])]
  const hints = { ...row.hints, limit: { ...countHint, ...count } }
  const work: RunWork = async (run, { limit, ...filter }) => {
    const countMax = limit === undefined ? undefined : Number(limit)
    const isFiltered = Object.values(filter).some(Boolean)
    return shown(await run.callAll(endpoint, filter, countMax), (items) => ({
      json: json(items),
      text: tableOf(items, columns ?? allColumnsOf(items), isFiltered ? noneFits : empty),
    }))
  }
  return runRow(endpoint, { ...row, without, hints, work })
}

/** Adds commands to the program. `groups` says what commands with a first word in common are for. */
export function addRows(
  program: Command,
  rows: readonly CommandRow[],
  groups: Readonly<Record<string, string>>,
): void {
  for (const row of rows) {
    const words = row.words.split(' ')
    const name = words.pop() ?? ''
    const parent = words.reduce((above, word) => findOrAdd(above, word, groups[word]), program)
    const command = parent.command(name).description(row.text)
    const work = row.prepare(command)
    for (const [form, extra] of Object.entries(row.more ?? {})) addExtra(command, form, extra)
    if (row.help !== undefined) command.addHelpText('after', `\n${row.help}`)
    command.action(actionOf(work))
  }
}

function addExtra(command: Command, form: string, extra: string | Extra): void {
  const {
    text,
    parse,
    choices,
    isRequired = false,
  } = typeof extra === 'string' ? { text: extra } : extra
  if (!form.startsWith('-')) {
    const argument = new Argument(form, text)
    command.addArgument(choices === undefined ? argument : argument.choices(choices))
    return
  }
  const option = new Option(form, text).makeOptionMandatory(isRequired)
  command.addOption(parse === undefined ? option : option.argParser(parse))
}

function findOrAdd(above: Command, word: string, text = ''): Command {
  const found = above.commands.find((one) => one.name() === word)
  return found ?? above.command(word).description(text)
}

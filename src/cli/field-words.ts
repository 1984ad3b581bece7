/**
 * The words of a command line for the fields of an operation's input: which option a field has, what help
 * says about it, and how the words become the input. All of it comes from the schema of the field; a hint
 * says only what differs. Whether a value is right is for the operation to say.
 */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Argument, InvalidArgumentError, Option, type Command } from 'commander'
import { z } from 'zod'
import { readField, type Field } from '../operations/field.ts'
import type { Given } from './store-run.ts'

export interface Hint {
  /** The option as help writes it; `--NAME <word>` after the field without this. */
  readonly flags?: string
  /** What help says; the description of the field without this. */
  readonly text?: string
  /** Words that stand for another value, such as `never` for null. */
  readonly words?: Readonly<Record<string, unknown>>
  /** The value where the option is not given. */
  readonly fallback?: string
  /** Reads the text when the command runs. */
  readonly read?: (text: string) => unknown
  /** Reads the text with the line; its error names the option. */
  readonly parse?: (text: string) => unknown
  /** The option may be repeated, and all values count. */
  readonly isRepeated?: true
  /** The value is the content of the file that is named; of several files also their names. */
  readonly isFile?: true
}

/** Options whose form does not follow from the name of the field, wherever it stands. */
const usualHints: Readonly<Record<string, Hint>> = {
  confirm: { flags: '--yes' },
  ip: { flags: '--ip <cidr>', isRepeated: true },
  min_severity: { flags: '--severity <severity>' },
  name_contains: { flags: '--name <part>' },
  names: { flags: '--map <model=name>' },
  price_multiplier: { flags: '--multiplier <factor>' },
  vendor_counts: { flags: '--vendor-file <file...>', isFile: true },
}

/** Fields of an input in their order; the first ones may be arguments. */
export interface FieldWords {
  readonly schema: z.ZodObject
  /** Fields that are given by their place. */
  readonly arguments: readonly string[]
  readonly options: readonly string[]
  readonly hints: Readonly<Record<string, Hint>>
}

/** Reads the input of an operation from the words of a line, and the files that they name. */
export type ReadWords = (given: Given) => Promise<Record<string, unknown>>

/** Adds the arguments and options of fields to a command. */
export function addFields(command: Command, words: FieldWords): ReadWords {
  const positions = words.arguments.map((name, index) => {
    const one = describe(words, name)
    command.addArgument(argumentOf(one))
    return { one, valueIn: (given: Given): unknown => given.arguments[index] }
  })
  const options = words.options.map((name) => {
    const one = describe(words, name)
    const option = optionOf(one)
    command.addOption(option)
    const valueIn = ({ options: all }: Given): unknown => all[option.attributeName()]
    return { one, valueIn }
  })
  return async (given) => {
    const entries = [...positions, ...options].map(async ({ one, valueIn }) => [
      one.name,
      await valueOf(one, valueIn(given)),
    ])
    return Object.fromEntries(await Promise.all(entries)) as Record<string, unknown>
  }
}

/** A field with what help calls it. */
interface Described extends Field {
  readonly name: string
  readonly hint: Hint
  readonly words: Readonly<Record<string, unknown>>
}

function describe({ schema, hints }: FieldWords, name: string): Described {
  const field = readField(schema.shape[name] as z.ZodType)
  const hint = { ...usualHints[name], ...hints[name] }
  const ofNull = field.isNullable ? { [isList(field) ? 'all' : 'never']: null } : {}
  return { ...field, name, hint, words: hint.words ?? ofNull }
}

function isList({ type }: Field): boolean {
  return type instanceof z.ZodArray
}

/** A unit at the end of a name is the word for the value: `daily_usd` is `--daily <usd>`. */
const units = /_(usd|minutes)$/

/** Returns what help calls the value. */
function wordOf({ name, hint: { flags = '' } }: Described): string {
  const [, given] = /<(.+)>/.exec(flags) ?? []
  return given ?? units.exec(name)?.[1] ?? name.slice(name.lastIndexOf('_') + 1)
}

function flagsOf(one: Described): string {
  const flag = `--${one.name.replace(units, '').replaceAll('_', '-')}`
  const value = one.type instanceof z.ZodBoolean ? '' : ` <${wordOf(one)}>`
  return one.hint.flags ?? flag + value
}

function argumentOf(one: Described): Argument {
  const word = wordOf(one)
  return new Argument(one.isRequired ? `<${word}>` : `[${word}]`, textOf(one))
}

function optionOf(one: Described): Option {
  const { hint } = one
  const option = new Option(flagsOf(one), textOf(one))
  option.makeOptionMandatory(one.isRequired && hint.fallback === undefined)
  if (hint.fallback !== undefined) option.default(hint.fallback)
  const parse = parserOf(one)
  if (parse !== undefined) option.argParser<unknown>(parse)
  if (one.choices !== undefined) choicesOf.set(option, one.choices)
  if (addsUp(one)) repeatable.add(option)
  return option
}

/** What an option chooses from. Commander would refuse other values in its own words. */
export const choicesOf = new WeakMap<Option, readonly string[]>()

/** Options that may be repeated. */
export const repeatable = new WeakSet<Option>()

function addsUp({ type, hint }: Described): boolean {
  return hint.isRepeated === true || type instanceof z.ZodRecord
}

/** Gets the value that the earlier words were read as. */
type Parser = (text: string, before: unknown) => unknown

function parserOf(one: Described): Parser | undefined {
  const { type, hint } = one
  if (hint.isFile === true) return undefined
  if (type instanceof z.ZodRecord)
    return (text, before) => addPair(one, text, before as object | undefined)
  if (isList(one))
    return (text, before) => [...((before as string[] | undefined) ?? []), ...splitList(text)]
  return hint.parse
}

function splitList(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim())
}

/** An empty text removes a pair, where null does. */
function addPair(one: Described, text: string, before: object = {}): object {
  const [, key, value = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? []
  const { valueType } = one.type as z.ZodRecord
  const mayBeEmpty = valueType instanceof z.ZodNullable
  if (key === undefined || (!mayBeEmpty && (key === '' || value === '')))
    throw new InvalidArgumentError(`Write it as ${wordOf(one)}.`)
  return { ...before, [key]: value }
}

async function valueOf({ words, hint }: Described, given: unknown): Promise<unknown> {
  if (hint.isFile === true) {
    if (typeof given === 'string') return readText(given)
    return Array.isArray(given) ? Promise.all(given.map(String).map(readNamed)) : undefined
  }
  if (hint.read !== undefined && typeof given === 'string') return hint.read(given)
  const word = Array.isArray(given) && given.length === 1 ? (given[0] as unknown) : given
  return typeof word === 'string' && Object.hasOwn(words, word) ? words[word] : given
}

async function readNamed(path: string): Promise<{ readonly name: string; readonly text: string }> {
  return { name: path === '-' ? 'standard input' : basename(path), text: await readText(path) }
}

/** Reads a file; `-` is standard input, read to its end. */
export async function readText(path: string): Promise<string> {
  try {
    const bytes = path === '-' ? await buffer(process.stdin) : await readFile(path)
    return bytes.toString('utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const what = path === '-' ? 'Standard input' : `The file ${path}`
    throw new InvalidArgumentError(`${what} cannot be read: ${reason}.`)
  }
}

/** Help names the words to choose from where there are no more than these. */
const choicesMax = 6

/** Joins the description of a field with what its type says: how to write several, choices, the default. */
function textOf(one: Described): string {
  const { hint, description, choices = [], words, fallback } = one
  const initial = hint.fallback ?? fallback
  const values = [
    ...(choices.length <= choicesMax ? [alternatives(choices)] : []),
    ...(initial === '' ? [] : [`default: ${initial}`]),
  ].filter((text) => text !== '')
  const parts = [
    hint.text ?? plainly(description),
    ...(hint.isFile === true ? ['- reads standard input'] : []),
    ...(isList(one) ? ['separate with commas'] : []),
    ...(addsUp(one) ? ['may be repeated'] : []),
    ...Object.keys(words).map((word) => `'${word}' removes it`),
  ]
  return parts.join('; ') + (values.length === 0 ? '' : ` (${values.join('; ')})`)
}

function alternatives(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), words.at(-1) ?? ''].filter(Boolean).join(' or ')
}

/** Makes a line of help of a description: no capital letter, no marks of code, no full stop. */
export function plainly(description: string): string {
  const isWord = !/^\p{Lu}{2}/u.test(description)
  const text = isWord ? description.charAt(0).toLowerCase() + description.slice(1) : description
  return text.replaceAll('`', '').replace(/\.$/, '')
}

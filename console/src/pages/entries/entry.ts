/**
 * Entries of the catalogue as forms edit them: each field is a text while a person types, and becomes the
 * value of the file when it is sent. The fields come from the gateway; only their order is here. Pure.
 */
import type { CatalogueFieldsAnswer } from '../models/queries.ts'

export type Section = 'vendors' | 'models' | 'channels'
export type Field = CatalogueFieldsAnswer['channels'][number]
/** An entry in the form of the file. */
export type Entry = Readonly<Record<string, unknown>>
/** Texts by the keys of the fields; a field that is not set is absent or empty. */
export type Draft = Readonly<Record<string, string>>

/** The fields that most entries set; a form has the others behind "More settings". */
const usualKeys: Readonly<Record<Section, readonly string[]>> = {
  vendors: ['format', 'credential', 'version_header', 'default_version'],
  models: ['vendor', 'max_output_tokens', 'max_input_tokens', 'also', 'thinks', 'price'],
  channels: ['vendor', 'url', 'credential', 'models', 'rank', 'weight', 'cost'],
}

export function isUsual(section: Section, { key, is_required: isRequired }: Field): boolean {
  return isRequired || usualKeys[section].includes(key)
}

const titles: Readonly<Record<string, string>> = {
  url: 'Address',
  cost: 'Cost factor',
  also: 'Other names',
}

export function titleOf({ key }: Pick<Field, 'key'>): string {
  return titles[key] ?? key.charAt(0).toUpperCase() + key.slice(1).replaceAll('_', ' ')
}

/** A shorter sentence, such as "0 to 99.", says too little alone. */
const shortMax = 24

/** The first sentence of the meaning, and the default, without the marks of Markdown. */
export function hintOf({ kind, meaning, default_text: fallback, is_required: isRequired }: Field) {
  if (kind === 'cost') return 'Your own cost as a factor on list prices, such as 0.8'
  const [first = '', second = ''] = plainText(meaning).split(/(?<=\.) /)
  const sentence = first.length < shortMax ? `${first} ${second}` : first
  return isRequired || fallback === null ? sentence : `${sentence} Default: ${plainText(fallback)}.`
}

export function plainText(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')
}

/** Whether a form can write the value; the file can always. */
export function isEditable({ kind }: Field, value: unknown): boolean {
  if (kind === 'prices' || kind === 'baselines') return false
  return kind !== 'cost' || Object.keys(recordOf(value)).every((key) => key === 'factor')
}

export function draftOf(fields: readonly Field[], entry: Entry): Draft {
  return Object.fromEntries(fields.map((field) => [field.key, textOf(field, entry[field.key])]))
}

function textOf({ kind }: Field, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (kind === 'cost' && Object.keys(recordOf(value)).join() === 'factor')
    return plain(recordOf(value)['factor'])
  if (Array.isArray(value)) return value.map(plain).join('\n')
  if (typeof value !== 'object') return plain(value)
  if (kind === 'mapping' || kind === 'models')
    return Object.entries(value)
      .map(([key, inner]) => lineOf(key, inner))
      .join('\n')
  return JSON.stringify(value)
}

function lineOf(key: string, inner: unknown): string {
  return inner === null || inner === key ? key : `${key}: ${plain(inner)}`
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The value of the file; a text that does not fit stays a text, and the gateway says why. */
function valueOf({ kind }: Field, text: string): unknown {
  const given = text.trim()
  switch (kind) {
    case 'number':
      return numberOr(given)
    case 'flag':
      return given === 'true'
    case 'list':
    case 'choices':
      return linesOf(given)
    case 'mapping':
      return Object.fromEntries(linesOf(given).map(pairOf))
    case 'models': {
      const pairs = linesOf(given).map(pairOf)
      const isList = pairs.every(([model, name]) => model === name)
      return isList ? pairs.map(([model]) => model) : Object.fromEntries(pairs)
    }
    case 'cost':
      return { factor: numberOr(given) }
    default:
      return given
  }
}

function numberOr(text: string): number | string {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** The prices that are given; a text that is no amount stays a text. */
export function pricesOf(texts: Draft): Entry {
  return Object.fromEntries(
    Object.entries(texts)
      .filter(([, text]) => text.trim() !== '')
      .map(([name, text]) => [name, numberOr(text.trim())]),
  )
}

export function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** `key: value`; a line without a value has the key as its value. */
export function pairOf(line: string): readonly [key: string, value: string] {
  const at = line.indexOf(': ')
  return at < 0 ? [line, line] : [line.slice(0, at), line.slice(at + 2).trim()]
}

/** Returns the entry that a draft describes. */
export function entryOf(fields: readonly Field[], draft: Draft): Entry {
  return Object.fromEntries(
    fields
      .map((field) => [field, draft[field.key] ?? ''] as const)
      .filter(([, text]) => text.trim() !== '')
      .map(([field, text]) => [field.key, valueOf(field, text)]),
  )
}

/** Returns the merge patch (RFC 7396) from one draft to another: null removes a field. */
export function patchBetween(fields: readonly Field[], before: Draft, draft: Draft): Entry {
  const changed = fields.filter(({ key }) => (draft[key] ?? '') !== (before[key] ?? ''))
  return Object.fromEntries(
    changed.map((field) => {
      const [old = '', text = ''] = [before[field.key], draft[field.key]]
      if (text.trim() === '') return [field.key, null]
      return [field.key, withRemovals(valueOf(field, old), valueOf(field, text))]
    }),
  )
}

/** A patch merges mappings, so a removed key must be named. */
function withRemovals(before: unknown, value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value
  if (Array.isArray(before)) return value
  const gone = Object.keys(recordOf(before)).filter((key) => !(key in value))
  return { ...value, ...Object.fromEntries(gone.map((key) => [key, null])) }
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(Object.entries(value))
}

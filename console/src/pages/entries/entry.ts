/**
 * Entries of the catalogue as forms edit them: each field is a text while a person types, and becomes the
 * value of the file when it is sent. The fields come from the gateway; only their order is here. Pure.
 */
import { t } from '../../messages/t.ts'
import { linesOf } from '../../ui/form-fields.tsx'
import type { CatalogueFieldsAnswer } from '../models/queries.ts'
import {
  amountsIn,
  amountsOf,
  linesOfAmounts,
  numberOr,
  recordOf,
  valueOfAmounts,
} from './amounts.ts'

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

export function titleOf({ key }: Pick<Field, 'key'>): string {
  const known = `entries.fields.${key}` as 'entries.fields.vendor'
  return t.has(known) ? t(known) : key.charAt(0).toUpperCase() + key.slice(1).replaceAll('_', ' ')
}

/** A shorter sentence, such as "0 to 99.", says too little alone. */
const shortMax = 24

/** The first sentence of the meaning, and the default, without the marks of Markdown; or our own words. */
export function hintOf(field: Field): string | undefined {
  const { key, kind, meaning, default_text: fallback, is_required: isRequired } = field
  // What is said of a file says nothing of its inputs.
  if (kind === 'prices') return undefined
  if (kind === 'cost') return t('entries.cost.hint')
  const [first = '', second = ''] = plainText(meaning).split(/(?<=\.) /)
  const said = first.length < shortMax ? `${first} ${second}` : first
  const sentence = t('entries.fieldMeaning', { key: kind === 'secret' ? kind : key, said })
  if (isRequired || fallback === null) return sentence
  return t('entries.hintWithDefault', { hint: sentence, value: plainText(fallback) })
}

export function plainText(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')
}

export function draftOf(fields: readonly Field[], entry: Entry): Draft {
  return Object.fromEntries(fields.map((field) => [field.key, textOf(field, entry[field.key])]))
}

function textOf({ kind }: Field, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (kind === 'prices' || kind === 'cost' || kind === 'baselines')
    return linesOfAmounts(amountsOf(value, kind))
  if (Array.isArray(value)) return value.map(plain).join('\n')
  if (typeof value !== 'object') return plain(value)
  return Object.entries(value)
    .map(([key, inner]) => lineOf(key, inner))
    .join('\n')
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
    case 'prices':
    case 'cost':
    case 'baselines':
      return valueOfAmounts(amountsIn(text), kind)
    default:
      return given
  }
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
      .map((field) => [field.key, givenIn(field, draft)] as const)
      .filter(([, value]) => value !== null),
  )
}

/** Null for a field that is not set. */
function givenIn(field: Field, draft: Draft): unknown {
  const text = draft[field.key] ?? ''
  if (text.trim() === '') return null
  const value = valueOf(field, text)
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return isEmpty ? null : value
}

/** Returns the merge patch (RFC 7396) from one draft to another: null removes a field. */
export function patchBetween(fields: readonly Field[], before: Draft, draft: Draft): Entry {
  const changed = fields.filter(({ key }) => (draft[key] ?? '') !== (before[key] ?? ''))
  return Object.fromEntries(
    changed.map((field) => [
      field.key,
      withRemovals(givenIn(field, before), givenIn(field, draft)),
    ]),
  )
}

/** A patch merges mappings, so a removed key must be named. */
function withRemovals(before: unknown, value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value
  if (Array.isArray(before)) return value
  const gone = Object.keys(recordOf(before)).filter((key) => !(key in value))
  return { ...value, ...Object.fromEntries(gone.map((key) => [key, null])) }
}

/** The names below a place in a JSON Schema, of all its alternatives. */
export function propertiesOf(schema: unknown, path: readonly string[]): readonly string[] {
  const [name, ...rest] = path
  const found = alternativesOf(schema).flatMap((one) => {
    const properties = recordOf(one['properties'])
    if (name === undefined) return Object.keys(properties)
    const inner = properties[name] ?? one['additionalProperties']
    return inner === undefined ? [] : propertiesOf(inner, rest)
  })
  return [...new Set(found)]
}

function alternativesOf(schema: unknown): readonly Entry[] {
  const own = recordOf(schema)
  const inner = ['anyOf', 'oneOf', 'allOf'].flatMap((word) => {
    const list = own[word]
    return Array.isArray(list) ? list.flatMap(alternativesOf) : []
  })
  return [own, ...inner]
}

/** Those that vendors have; a price may have others. */
const usualFactors = [
  'tiers/batch/multiplier',
  'tiers/flex/multiplier',
  'tiers/priority/multiplier',
  'speeds/fast/multiplier',
  'geos/us/multiplier',
]

/** The paths that a price may have, such as `input` and `long_context/above`. */
export function pricePaths({ schema }: Pick<CatalogueFieldsAnswer, 'schema'>): readonly string[] {
  const place = ['models', '', 'price']
  const groups = new Set(['tiers', 'speeds', 'geos', 'valid_from'])
  const plain = propertiesOf(schema, place)
  return [
    ...plain
      .filter((name) => !groups.has(name))
      .flatMap((name) => {
        const inner = propertiesOf(schema, [...place, name])
        return inner.length === 0 ? [name] : inner.map((one) => `${name}/${one}`)
      }),
    ...usualFactors,
  ]
}

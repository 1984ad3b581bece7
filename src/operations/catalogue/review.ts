/**
 * Judges a whole catalogue file: each entry by its schema, names, and references between entries.
 * It collects every mistake with its place instead of stopping at the first, and it hands on what
 * is right so that later checks can add theirs. It reads no store.
 */
import type { z } from 'zod'
import { priceKeysAt } from '../../metering/price-book.ts'
import { isMapping, type Complain, type Located, type Mistake } from './document.ts'
import {
  channelSchema,
  entryKeys,
  modelSchema,
  vendorSchema,
  type ChannelEntry,
  type GivenEntries,
  type ModelEntry,
  type Section,
  type VendorEntry,
} from './entries.ts'
import { checkReferences } from './references.ts'
import { suggest } from './suggest.ts'

export interface Catalogue {
  readonly vendors: ReadonlyMap<string, VendorEntry>
  readonly models: ReadonlyMap<string, ModelEntry>
  readonly channels: ReadonlyMap<string, ChannelEntry>
}

export interface Review {
  /** The entries without a mistake of their own; complete only when there are no mistakes. */
  readonly catalogue: Catalogue
  readonly mistakes: readonly Mistake[]
}

const sections: readonly Section[] = ['vendors', 'models', 'channels']

/** The two vendors of the specification need no entry of their own unless they differ from this. */
const builtInVendors: ReadonlyMap<string, VendorEntry> = new Map<string, VendorEntry>([
  [
    'alpha',
    {
      format: 'messages',
      credential: 'x-api-key',
      versionHeader: 'anthropic-version',
      defaultVersion: '2023-06-01',
      requireMaxTokens: true,
      allowedFeatures: new Set(),
    },
  ],
  [
    'beta',
    {
      format: 'chat',
      credential: 'bearer',
      versionHeader: undefined,
      defaultVersion: undefined,
      requireMaxTokens: true,
      allowedFeatures: new Set(),
    },
  ],
])

/** A vendor's name is a route prefix: these first segments belong to the gateway itself. */
const reservedNames: ReadonlySet<string> = new Set(
  'v1 health livez readyz metrics admin console account usage api assets static docs openapi.json favicon.ico robots.txt'.split(
    ' ',
  ),
)

const nameForm = /^[a-z0-9][a-z0-9._-]{0,63}$/
/** Vendors name models in many ways; a comma would break lists of models, a space every command. */
const modelForm = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$/

export function reviewCatalogue(document: Located): Review {
  const mistakes: Mistake[] = []
  const complain: Complain = (path, message, prefer = 'value') => {
    mistakes.push({ ...document.place(path, prefer), path: path.join('.'), message })
  }
  const given = readSections(document.value, complain)
  if (given === undefined) return { catalogue: emptyCatalogue, mistakes }

  for (const name of Object.keys(given.vendors)) checkVendorName(name, complain)
  for (const name of Object.keys(given.models))
    if (!modelForm.test(name))
      complain(
        ['models', name],
        'a model id has 1 to 128 letters, digits and . _ : / @ + -, and begins with a letter or digit',
        'key',
      )
  for (const name of Object.keys(given.channels)) checkChannelName(name, complain)

  const models = readEntries(given, { section: 'models', schema: modelSchema }, complain)
  const channels = readEntries(given, { section: 'channels', schema: channelSchema }, complain)
  const vendors = readEntries(given, { section: 'vendors', schema: vendorSchema }, complain)
  for (const { vendor } of [...models.values(), ...channels.values()]) {
    const builtIn = builtInVendors.get(vendor)
    if (builtIn !== undefined && !Object.hasOwn(given.vendors, vendor)) vendors.set(vendor, builtIn)
  }
  checkReferences(given, builtInVendors.keys(), complain)
  return { catalogue: { vendors, models, channels }, mistakes }
}

const emptyCatalogue: Catalogue = { vendors: new Map(), models: new Map(), channels: new Map() }

const nameRule =
  'name has 1 to 64 lower-case letters, digits and . _ -, and begins with a letter or digit'

function checkChannelName(name: string, complain: Complain): void {
  if (!nameForm.test(name)) complain(['channels', name], `a channel's ${nameRule}`, 'key')
  else if (name === 'all')
    complain(
      ['channels', name],
      "all cannot be a channel's name: commands mean every channel",
      'key',
    )
}

function checkVendorName(name: string, complain: Complain): void {
  if (!nameForm.test(name)) complain(['vendors', name], `a vendor's ${nameRule}`, 'key')
  else if (reservedNames.has(name))
    complain(
      ['vendors', name],
      `${name} cannot be a vendor's name: it is a path of the gateway itself`,
      'key',
    )
}

function readSections(value: unknown, complain: Complain): GivenEntries | undefined {
  if (value === null || value === undefined) {
    complain([], 'the file is empty; to retire everything write `channels: {}`')
    return undefined
  }
  if (!isMapping(value)) {
    complain([], `the file must be a mapping with ${sections.join(', ')}`)
    return undefined
  }
  for (const key of Object.keys(value))
    if (!sections.some((section) => section === key))
      complain([key], `unknown key ${key}${suggest(key, sections)}`, 'key')
  const read = (section: Section): Readonly<Record<string, unknown>> => {
    const entries = Object.hasOwn(value, section) ? value[section] : undefined
    if (isMapping(entries)) return entries
    // Nothing but comments below it: a slip that must not cost everything of the kind.
    if (entries === null)
      complain(
        [section],
        `has no entries; to retire all ${section} write \`${section}: {}\``,
        'key',
      )
    else if (entries !== undefined) complain([section], `must be a mapping of names to ${section}`)
    return {}
  }
  return { vendors: read('vendors'), models: read('models'), channels: read('channels') }
}

function readEntries<Schema extends z.ZodType>(
  given: GivenEntries,
  kind: { readonly section: Section; readonly schema: Schema },
  complain: Complain,
): Map<string, z.output<Schema>> {
  const entries = new Map<string, z.output<Schema>>()
  for (const [name, value] of Object.entries(given[kind.section])) {
    const path = [kind.section, name]
    if (!isMapping(value)) {
      complain(path, `must be a mapping with ${entryKeys[kind.section].join(', ')}`)
      continue
    }
    const parsed = kind.schema.safeParse(value)
    if (parsed.success) entries.set(name, parsed.data)
    else for (const issue of parsed.error.issues) complainOfIssue(issue, { path, value }, complain)
  }
  return entries
}

function complainOfIssue(
  issue: z.core.$ZodIssue,
  entry: { readonly path: readonly [Section, string] | string[]; readonly value: object },
  complain: Complain,
): void {
  const within = issue.path.map((segment) => (typeof segment === 'symbol' ? '' : segment))
  const path = [...entry.path, ...within]
  const unknownKeys = unknownKeysOf(issue)
  const known = knownKeys(entry.path[0] as Section, within)
  for (const key of unknownKeys)
    complain([...path, key], `unknown key ${key}${suggest(key, known)}`, 'key')
  if (unknownKeys.length > 0) return
  const [field] = within
  const isMissing = within.length === 1 && !Object.hasOwn(entry.value, String(field))
  complain(path, isMissing ? `${String(field)} is missing: it ${issue.message}` : issue.message)
}

function knownKeys(section: Section, within: readonly (string | number)[]): readonly string[] {
  const [field, ...rest] = within
  if (field === undefined) return entryKeys[section]
  return field === 'price' ? priceKeysAt(rest) : []
}

/** Prices are checked by a schema of their own, whose issues arrive as text. */
function unknownKeysOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys
  if (!/^Unrecognized keys?:/.test(issue.message)) return []
  return [...issue.message.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? '')
}

export function inFileOrder(mistakes: readonly Mistake[]): readonly Mistake[] {
  return [...mistakes].sort((left, right) => left.line - right.line || left.column - right.column)
}

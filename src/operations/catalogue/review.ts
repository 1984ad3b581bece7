/**
 * Checks a whole catalogue in the form of its file: each entry by its schema, the names, the references
 * between entries. It collects every fault with its path, and returns the valid entries, so that later
 * checks can add theirs. It works in turns: a long catalogue keeps the event loop from nothing else. Pure.
 */
import type { z } from 'zod'
import { nearestWord } from '../../base/nearest.ts'
import { isObject } from '../../base/object.ts'
import { inTurns } from '../../base/turns.ts'
import { modelNameForm, modelNameRule } from '../../channels/model-name-form.ts'
import { withoutDate } from '../../channels/model-names.ts'
import { isOnOwnNetwork, proxiedFault } from '../../channels/catalogue/channel-address.ts'
import { isKept } from '../../channels/catalogue/field.ts'
import { modelFields } from '../../channels/catalogue/model-fields.ts'
import { needsOutputPrice } from '../../channels/offer.ts'
import { priceKeysAt } from '../../metering/price-form.ts'
import type { Prices } from '../../metering/prices.ts'
import { shownKey, type Complain, type Fault, type Path } from './document.ts'
import {
  builtInVendors,
  entryKeys,
  entrySchemas,
  type ChannelEntry,
  type GivenEntries,
  type ModelEntry,
  type Section,
  type VendorEntry,
} from './entries.ts'

export interface Catalogue {
  readonly vendors: ReadonlyMap<string, VendorEntry>
  readonly models: ReadonlyMap<string, ModelEntry>
  readonly channels: ReadonlyMap<string, ChannelEntry>
  /** By model: the keys of fields that would be kept, and that it removes by null. */
  readonly cleared: ReadonlyMap<string, readonly string[]>
}

export interface Review {
  /** The valid entries; complete only where there are no faults. */
  readonly catalogue: Catalogue
  readonly faults: readonly Fault[]
}

const sections: readonly Section[] = ['vendors', 'models', 'channels']

/** A vendor's name is the first segment of its paths; these segments are the gateway's own. */
const reservedNames: ReadonlySet<string> = new Set(
  'v1 health livez readyz metrics admin console account usage api assets static docs openapi.json favicon.ico robots.txt'.split(
    ' ',
  ),
)

const nameForm = /^[a-z0-9][a-z0-9._-]{0,63}$/

/** How many entries are checked, printed or compared in a turn of the event loop. */
export const entriesPerTurn = 20
/** The same for a check of a name or a reference. */
export const namesPerTurn = 500

export async function reviewCatalogue(value: unknown): Promise<Review> {
  const faults: Fault[] = []
  const complain: Complain = (path, message, prefer = 'value') => {
    faults.push({ path, message, prefer })
  }
  const given = readSections(value, complain)
  if (given === undefined) return { catalogue: emptyCatalogue, faults }

  for (const name of Object.keys(given.vendors)) checkVendorName(name, complain)
  await inTurns(Object.keys(given.models), namesPerTurn, (name) => {
    if (!modelNameForm.test(name))
      complain(['models', name], `a model id has ${modelNameRule}`, 'key')
  })
  for (const name of Object.keys(given.channels)) checkChannelName(name, complain)
  const models = await readEntries(given, 'models', complain)
  const channels = await readEntries(given, 'channels', complain)
  const vendors = await readEntries(given, 'vendors', complain)
  for (const vendor of new Set(
    [...models.values(), ...channels.values()].map((one) => one.vendor),
  )) {
    const builtIn = builtInVendors.get(vendor)
    if (builtIn !== undefined && !Object.hasOwn(given.vendors, vendor)) vendors.set(vendor, builtIn)
  }
  for (const [name, vendor] of Object.entries(given.vendors)) checkVersion(name, vendor, complain)
  await inTurns(models, namesPerTurn, ([id, model]) => {
    if (vendors.get(model.vendor)?.format === 'messages') checkMessagesModel(id, model, complain)
    else checkOperations(id, model, complain)
  })
  await checkDates(models, complain)
  await checkOtherNames(models, complain)
  await inTurns(channels, entriesPerTurn, ([name, channel]) => {
    checkAddress(name, channel, complain)
    checkCosts(name, { channel, models }, complain)
    if (channel.chatPath !== undefined && vendors.get(channel.vendor)?.format === 'chat')
      complain(['channels', name, 'chat_path'], 'is for vendors of the messages format; write path')
  })
  await checkReferences(given, builtInVendors.keys(), complain)
  const cleared = new Map(Object.entries(given.models).map(([id, one]) => [id, clearedKeys(one)]))
  return { catalogue: { vendors, models, channels, cleared }, faults }
}

const keptKeys = Object.values(modelFields)
  .filter(isKept)
  .map(({ key }) => key)

/** Lists the kept fields that the form of a model removes by null. */
export function clearedKeys(model: unknown): readonly string[] {
  return isObject(model) ? keptKeys.filter((key) => model[key] === null) : []
}

function checkVersion(name: string, vendor: unknown, complain: Complain): void {
  if (!isObject(vendor) || typeof vendor['default_version'] !== 'string') return
  if (vendor['version_header'] === undefined)
    complain(['vendors', name, 'default_version'], 'needs a version_header to be sent in')
}

function checkOperations(id: string, { operations, prices }: ModelEntry, complain: Complain): void {
  if (prices?.every((version) => hasOutput(version.prices)) !== false) return
  for (const [index, operation] of [...(operations ?? [])].entries())
    if (needsOutputPrice(operation))
      complain(['models', id, 'operations', index], `${operation} needs an output price`)
}

/** A name means one model: an edition with a separate entry is not an edition of another one, too. */
async function checkDates(
  models: ReadonlyMap<string, ModelEntry>,
  complain: Complain,
): Promise<void> {
  await inTurns(models.keys(), namesPerTurn, (id) => {
    const bare = withoutDate(id)
    if (bare !== undefined && models.get(bare)?.dated === true)
      complain(['models', bare, 'dated'], `${id} is a model of its own; write dated: false`)
  })
}

/** A name means one model, whatever its vendor. */
async function checkOtherNames(
  models: ReadonlyMap<string, ModelEntry>,
  complain: Complain,
): Promise<void> {
  const owners = new Map([...models.keys()].map((id) => [id, id]))
  await inTurns(models, namesPerTurn, ([id, { also }]) => {
    for (const [index, name] of [...(also ?? [])].entries()) {
      const bare = withoutDate(name)
      const edition = bare !== undefined && models.get(bare)?.dated === true ? bare : undefined
      const owner = owners.get(name) ?? edition
      if (owner === undefined) owners.set(name, id)
      else complain(['models', id, 'also', index], collision(name, { owner, id }))
    }
  })
}

function collision(name: string, { owner, id }: { readonly owner: string; readonly id: string }) {
  if (name === id) return `${name} is the model's id; leave it out`
  return `${name} is a name of the model ${owner} already`
}

/** The messages format has one operation, and that makes output. */
function checkMessagesModel(id: string, { operations, prices }: ModelEntry, complain: Complain) {
  if (operations !== undefined)
    complain(['models', id, 'operations'], 'is for models of the chat format; leave it out')
  if (prices?.every((version) => hasOutput(version.prices)) === false)
    complain(['models', id, 'price'], 'output is missing: a model of the messages format needs it')
}

function checkAddress(
  name: string,
  { url, path, proxy, allowPrivate }: ChannelEntry,
  complain: Complain,
): void {
  if (url.endsWith('/v1') && path.startsWith('/v1'))
    complain(
      ['channels', name, 'url'],
      'must end before /v1, which the gateway appends; write path: "" for an address that has it',
    )
  const fault = proxy === undefined ? undefined : proxiedFault(new URL(url))
  if (fault !== undefined) complain(['channels', name, 'url'], fault)
  else if (!allowPrivate && isOnOwnNetwork(new URL(url)))
    complain(
      ['channels', name, 'url'],
      'is an address in a private network; add allow_private: true if that is meant',
    )
}

/** Without a price for output, a cost price would take the price of input in its place. */
function checkCosts(
  name: string,
  {
    channel,
    models,
  }: { readonly channel: ChannelEntry; readonly models: ReadonlyMap<string, ModelEntry> },
  complain: Complain,
): void {
  for (const [id, versions] of channel.cost?.models ?? []) {
    const makesOutput = models.get(id)?.prices?.some(({ prices }) => hasOutput(prices)) === true
    if (makesOutput && !versions.every(({ prices }) => hasOutput(prices)))
      complain(
        ['channels', name, 'cost', id],
        `output is missing: the model ${id} has a price for it`,
      )
  }
}

function hasOutput({ classes }: Prices): boolean {
  return classes.output !== undefined
}

const emptyCatalogue: Catalogue = {
  vendors: new Map(),
  models: new Map(),
  channels: new Map(),
  cleared: new Map(),
}

const nameRule =
  'name has 1 to 64 lower-case letters, digits and . _ -, and begins with a letter or digit'

function checkChannelName(name: string, complain: Complain): void {
  if (!nameForm.test(name)) complain(['channels', name], `a channel's ${nameRule}`, 'key')
  else if (name === 'all')
    complain(['channels', name], 'all is reserved: commands use it for every channel', 'key')
}

function checkVendorName(name: string, complain: Complain): void {
  if (!nameForm.test(name)) complain(['vendors', name], `a vendor's ${nameRule}`, 'key')
  else if (reservedNames.has(name))
    complain(['vendors', name], `${name} is reserved: it is a path of the gateway`, 'key')
}

function readSections(value: unknown, complain: Complain): GivenEntries | undefined {
  if (value === null || value === undefined) {
    complain([], 'the file is empty; to retire everything write `channels: {}`')
    return undefined
  }
  if (!isObject(value)) {
    complain([], `the file must be a mapping with ${sections.join(', ')}`)
    return undefined
  }
  for (const key of Object.keys(value))
    if (key !== 'revision' && !sections.some((section) => section === key))
      complain([key], `unknown key ${shownKey(key)}${suggest(key, sections)}`, 'key')
  const read = (section: Section): Readonly<Record<string, unknown>> => {
    const entries = Object.hasOwn(value, section) ? value[section] : undefined
    if (isObject(entries)) return entries
    // A section with comments only. It must not retire all its entries by mistake.
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

async function readEntries<One extends Section>(
  given: GivenEntries,
  section: One,
  complain: Complain,
): Promise<Map<string, z.output<(typeof entrySchemas)[One]>>> {
  const entries = new Map<string, z.output<(typeof entrySchemas)[One]>>()
  await inTurns(Object.entries(given[section]), entriesPerTurn, ([name, value]) => {
    const path = [section, name]
    if (!isObject(value))
      return complain(path, `must be a mapping with ${entryKeys(section).join(', ')}`)
    const parsed = entrySchemas[section].safeParse(value)
    if (parsed.success) entries.set(name, parsed.data)
    else for (const issue of parsed.error.issues) complainOfIssue(issue, { path, value }, complain)
  })
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
    complain([...path, key], `unknown key ${shownKey(key)}${suggest(key, known)}`, 'key')
  if (unknownKeys.length > 0) return
  const [field] = within
  const isMissing = within.length === 1 && !Object.hasOwn(entry.value, String(field))
  complain(path, isMissing ? `${String(field)} is missing: it ${issue.message}` : issue.message)
}

function knownKeys(section: Section, within: readonly (string | number)[]): readonly string[] {
  const [field, ...rest] = within
  if (field === undefined) return entryKeys(section)
  if (field === 'cost') return priceKeysAt(rest.slice(1))
  return field === 'price' ? priceKeysAt(rest) : []
}

/** The price schema reports unknown keys as text. */
function unknownKeysOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys
  if (!/^Unrecognized keys?:/.test(issue.message)) return []
  return [...issue.message.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? '')
}

/**
 * Checks that named vendors and models exist and belong together. It reads the names as the file gives
 * them, also of entries with mistakes, so that one mistake is not reported again at each reference.
 */
async function checkReferences(
  given: GivenEntries,
  builtInVendors: Iterable<string>,
  complain: Complain,
): Promise<void> {
  const vendors = [...new Set([...Object.keys(given.vendors), ...builtInVendors])]
  const checkVendor = (path: Path, vendor: string | undefined): void => {
    if (vendor !== undefined && !vendors.includes(vendor))
      complain(path, `there is no vendor ${vendor}${suggest(vendor, vendors)}`)
  }
  await inTurns(Object.entries(given.models), namesPerTurn, ([name, model]) => {
    checkVendor(['models', name, 'vendor'], vendorOf(model))
  })
  await inTurns(Object.entries(given.channels), entriesPerTurn, ([name, channel]) => {
    const path = ['channels', name]
    checkVendor([...path, 'vendor'], vendorOf(channel))
    const models = modelsOf(channel)
    if (models === undefined) return
    checkServed({ path, channel, models }, 'baselines', complain)
    checkServed({ path, channel, models }, 'cost', complain)
    checkModels({ path, channel, models, given, vendors }, complain)
  })
}

interface ChannelReferences {
  readonly path: Path
  readonly channel: unknown
  /** Model → its place: the index in a list, the key in a mapping. */
  readonly models: ReadonlyMap<string, string | number>
}

function checkModels(
  {
    path,
    channel,
    models,
    given,
    vendors,
  }: ChannelReferences & { readonly given: GivenEntries; readonly vendors: readonly string[] },
  complain: Complain,
): void {
  const vendor = vendorOf(channel)
  for (const [id, segment] of models) {
    const place = [...path, 'models', segment]
    if (!Object.hasOwn(given.models, id)) {
      const hint = suggest(id, Object.keys(given.models))
      complain(place, `there is no model ${id}${hint}`, 'key')
      continue
    }
    const owner = vendorOf(given.models[id])
    if (owner === undefined || vendor === undefined || owner === vendor) continue
    if (vendors.includes(owner) && vendors.includes(vendor))
      complain(place, `${id} belongs to vendor ${owner}, this channel to ${vendor}`, 'key')
  }
}

/** Checks that the models below one key of a channel are models that it serves. */
function checkServed(
  { path, channel, models }: ChannelReferences,
  key: 'baselines' | 'cost',
  complain: Complain,
): void {
  const given = isObject(channel) ? channel[key] : undefined
  if (!isObject(given)) return
  for (const [id, value] of Object.entries(given)) {
    const isFactor = key === 'cost' && id === 'factor' && !isObject(value)
    if (!isFactor && !models.has(id))
      complain([...path, key, id], `this channel does not serve ${id}`, 'key')
  }
}

function vendorOf(entry: unknown): string | undefined {
  const vendor = isObject(entry) ? entry['vendor'] : undefined
  return typeof vendor === 'string' ? vendor : undefined
}

/** Undefined where `models` is neither a list nor a mapping. */
function modelsOf(channel: unknown): ReadonlyMap<string, string | number> | undefined {
  const models = isObject(channel) ? channel['models'] : undefined
  if (isObject(models)) return new Map(Object.keys(models).map((id) => [id, id]))
  if (!Array.isArray(models)) return undefined
  const places = new Map<string, number>()
  for (const [index, id] of (models as unknown[]).entries())
    if (typeof id === 'string' && !places.has(id)) places.set(id, index)
  return places
}

/** Returns ` (did you mean rank?)`, or nothing where no known word is near. */
function suggest(given: string, known: readonly string[]): string {
  const word = nearestWord(given, known, Math.max(2, Math.floor(given.length / 3)))
  return word === undefined ? '' : ` (did you mean ${word}?)`
}

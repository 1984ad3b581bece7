/**
 * References between the entries of a catalogue file: vendors and models that are named have to be
 * there and to belong together. It looks at what the file gives, not at what the schemas made of it,
 * so that another mistake in an entry hides none of its references; what it cannot read is left to
 * the schemas.
 */
import { isMapping, type Complain, type Path } from './document.ts'
import type { GivenEntries } from './entries.ts'
import { suggest } from './suggest.ts'

/**
 * References are looked up among the names the file gives, also those of entries with mistakes, so
 * that one mistake is not reported again at everything that refers to it.
 */
export function checkReferences(
  given: GivenEntries,
  builtInVendors: Iterable<string>,
  complain: Complain,
): void {
  const vendors = [...new Set([...Object.keys(given.vendors), ...builtInVendors])]
  const checkVendor = (path: Path, vendor: string | undefined): void => {
    if (vendor !== undefined && !vendors.includes(vendor))
      complain(path, `there is no vendor ${vendor}${suggest(vendor, vendors)}`)
  }
  for (const [name, model] of Object.entries(given.models))
    checkVendor(['models', name, 'vendor'], vendorOf(model))
  for (const [name, channel] of Object.entries(given.channels)) {
    const path = ['channels', name]
    checkVendor([...path, 'vendor'], vendorOf(channel))
    const models = modelsOf(channel)
    if (models === undefined) continue
    checkBaselines({ path, channel, models }, complain)
    checkModels({ path, channel, models, given, vendors }, complain)
  }
}

interface ChannelLook {
  readonly path: Path
  readonly channel: unknown
  /** Each with its place: the index in a list, the key in a mapping. */
  readonly models: ReadonlyMap<string, string | number>
}

function checkModels(
  {
    path,
    channel,
    models,
    given,
    vendors,
  }: ChannelLook & { readonly given: GivenEntries; readonly vendors: readonly string[] },
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

function checkBaselines({ path, channel, models }: ChannelLook, complain: Complain): void {
  const baselines = isMapping(channel) ? channel['baselines'] : undefined
  if (!isMapping(baselines)) return
  for (const id of Object.keys(baselines))
    if (!models.has(id))
      complain([...path, 'baselines', id], `this channel does not serve ${id}`, 'key')
}

function vendorOf(entry: unknown): string | undefined {
  const vendor = isMapping(entry) ? entry['vendor'] : undefined
  return typeof vendor === 'string' ? vendor : undefined
}

/** Undefined where there is neither a list nor a mapping. */
function modelsOf(channel: unknown): ReadonlyMap<string, string | number> | undefined {
  const models = isMapping(channel) ? channel['models'] : undefined
  if (isMapping(models)) return new Map(Object.keys(models).map((id) => [id, id]))
  if (!Array.isArray(models)) return undefined
  const places = new Map<string, number>()
  for (const [index, id] of (models as unknown[]).entries())
    if (typeof id === 'string' && !places.has(id)) places.set(id, index)
  return places
}

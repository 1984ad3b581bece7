/**
 * The entries of the catalogue file, each on its own: their fields, their schemas, the vendors that need
 * none. `review.ts` checks the references between them. Pure; it reads no store and no environment.
 */
import { z } from 'zod'
import { channelFields } from '../../channels/catalogue/channel-fields.ts'
import { entrySchema, keysOf, type Values } from '../../channels/catalogue/field.ts'
import { modelEntryFields } from '../../channels/catalogue/model-fields.ts'
import { vendorFields, withVendorDefaults } from '../../channels/catalogue/vendor-fields.ts'

export const entryFields = {
  vendors: vendorFields,
  models: modelEntryFields,
  channels: channelFields,
} as const

export type Section = keyof typeof entryFields

type Entries = { readonly [One in Section]: Values<(typeof entryFields)[One]> }

export type VendorEntry = Entries['vendors']
export type ModelEntry = Entries['models']
/** Its credential is `env:NAME`, `file:/path`, `sealed:…` or the plain secret. */
export type ChannelEntry = Entries['channels']

export const entrySchemas: { readonly [One in Section]: z.ZodType<Entries[One]> } = {
  vendors: z.preprocess(withVendorDefaults, entrySchema(vendorFields)),
  models: entrySchema(modelEntryFields),
  channels: entrySchema(channelFields),
}

/** The keys of an entry, in the order of the page. */
export function entryKeys(section: Section): readonly string[] {
  return keysOf(entryFields[section])
}

/** The entries of the file by name, before they are checked. */
export type GivenEntries = Readonly<Record<Section, Readonly<Record<string, unknown>>>>

/** Vendors that need no entry in the file. An entry replaces them. */
export const builtInVendors: ReadonlyMap<string, VendorEntry> = new Map(
  Object.entries({
    alpha: {
      format: 'messages',
      version_header: 'anthropic-version',
      default_version: '2023-06-01',
    },
    beta: { format: 'chat' },
  }).map(([name, given]) => [name, entrySchemas.vendors.parse(given)]),
)

/**
 * The stored catalogue in the form of its file: as text for `apply`, and entry by entry. The invariant: what
 * it prints, applied, changes nothing.
 */
import { stringify } from 'yaml'
import { z } from 'zod'
import { inTurns } from '../../base/turns.ts'
import { channelFields } from '../../channels/catalogue/channel-fields.ts'
import { printEntry } from '../../channels/catalogue/field.ts'
import { modelEntryFields } from '../../channels/catalogue/model-fields.ts'
import { vendorFields } from '../../channels/catalogue/vendor-fields.ts'
import {
  isInUse,
  readCatalogue,
  type CatalogueRows,
  type ChannelRow,
  type ModelRow,
  type VendorRow,
} from '../../channels/channel-store.ts'
import { noInput, operation, type OperationContext } from '../operation.ts'
import { currentPrices, readVersions } from '../prices/versions.ts'
import { hideSealed } from './credentials.ts'
import type { Section } from './entries.ts'
import { currentRevision, revisionForm } from './revision.ts'

export interface PrintableEntry<Row> {
  readonly name: string
  readonly row: Row
  /** Returns the entry in the form of the file. */
  readonly print: () => Readonly<Record<string, unknown>>
}

/** The entries in use, in the order of their names. */
export interface PrintableEntries {
  readonly vendors: readonly PrintableEntry<VendorRow>[]
  readonly models: readonly PrintableEntry<ModelRow>[]
  readonly channels: readonly PrintableEntry<ChannelRow>[]
}

/** `show` says what stands for a credential. */
export function printableEntries(
  rows: CatalogueRows,
  { nowMs, show }: { readonly nowMs: number; readonly show: (credential: string) => string },
): PrintableEntries {
  const prices = Map.groupBy(rows.prices, (row) => row.model)
  return {
    vendors: rows.vendors
      .filter(isInUse)
      .map((row) => ({ name: row.name, row, print: () => printEntry(vendorFields, row) })),
    models: rows.models.filter(isInUse).map((row) => ({
      name: row.id,
      row,
      print: () => {
        const versions = currentPrices(readVersions(prices.get(row.id) ?? []), nowMs)
        const entry = { ...row, prices: versions.length === 0 ? undefined : versions }
        return printEntry(modelEntryFields, entry)
      },
    })),
    channels: rows.channels.filter(isInUse).map((row) => ({
      name: row.name,
      row,
      print: () => printEntry(channelFields, { ...row, credential: show(row.credential) }),
    })),
  }
}

const exportedForm = z.strictObject({
  text: z.string().meta({ description: 'YAML.' }),
  revision: revisionForm,
})

/**
 * Returns the catalogue as a file. Secrets in it are sealed, so that only this store's master key opens them,
 * or hidden.
 */
export const exportCatalogue = operation(
  { input: noInput, answer: exportedForm },
  async (context) => {
    const { rows, revision } = await context.database.snapshot(async (snapshot) => ({
      rows: await readCatalogue(snapshot),
      revision: await currentRevision(snapshot),
    }))
    return { text: await printCatalogue(context, rows, revision), revision }
  },
)

async function printCatalogue(
  { clock, hidesSealed }: Pick<OperationContext, 'clock' | 'hidesSealed'>,
  rows: CatalogueRows,
  revision: string,
): Promise<string> {
  const show = hidesSealed === true ? hideSealed : String
  const { vendors, models, channels } = printableEntries(rows, { nowMs: clock.now(), show })
  return (
    stringify({ revision }) +
    (await printSection('vendors', vendors)) +
    (await printSection('models', models)) +
    (await printSection('channels', channels))
  )
}

const entriesPerTurn = 10

/** Prints a part of the file, each entry as if it were the only one: a large file takes many turns. */
async function printSection(
  section: Section,
  entries: readonly Omit<PrintableEntry<unknown>, 'row'>[],
): Promise<string> {
  // Quotes text that YAML 1.1 would read as a date or a boolean.
  const options = { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const
  if (entries.length === 0) return stringify({ [section]: {} }, options)
  const heading = `${section}:\n`
  let text = heading
  await inTurns(entries, entriesPerTurn, ({ name, print }) => {
    text += stringify({ [section]: { [name]: print() } }, options).slice(heading.length)
  })
  return text
}

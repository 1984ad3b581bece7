/**
 * A channel as a draft of the catalogue has it, ready to be reached, and not saved. The invariant: a draft
 * passes the checks of an apply first, those of credentials that come over the network too; a new secret in
 * it lives in memory alone.
 */
import { z } from 'zod'
import type { Secret } from '../../base/secret.ts'
import type { Channel, Snapshot, Vendor } from '../../channels/channel.ts'
import {
  isInUse,
  type CatalogueRows,
  type ChannelRow,
  type PriceRow,
} from '../../channels/channel-store.ts'
import { buildSnapshot, explainAbsence } from '../../channels/snapshot.ts'
import { prepare } from '../catalogue/catalogue.ts'
import {
  byPath,
  editedDraft,
  patchForms,
  type EntryForms,
  type NameFault,
} from '../catalogue/edit.ts'
import { cataloguePatch } from '../catalogue/entry-changes.ts'
import type { CataloguePlan } from '../catalogue/plan.ts'
import type { OperationContext } from '../operation.ts'
import { noSuchChannel } from './channels.ts'

export const draftField = z
  .strictObject(cataloguePatch)
  .optional()
  .describe(
    'Changes of the catalogue that are not saved, in the form of PATCH /catalogue. Absent = the channel as it is.',
  )

export type DraftPatch = z.output<typeof draftField>

export interface DraftChannel {
  readonly channel: Channel
  readonly vendor: Vendor
  readonly snapshot: Snapshot
  /** Whether the catalogue has a channel of this name. */
  readonly isStored: boolean
}

/** Returns the channel, or why it cannot be reached. Throws the refusal of a draft with mistakes. */
export async function openDraft(
  context: OperationContext,
  name: string,
  edit: (forms: EntryForms) => EntryForms,
  nameFault: NameFault = byPath,
): Promise<DraftChannel | string> {
  const { stored, plan } = await context.database.snapshot((snapshot) =>
    prepare(context, snapshot, {
      draft: (rows, nowMs) => editedDraft(rows, edit, { nowMs, nameFault }),
      subject: name,
      isFile: false,
      dry_run: true,
      force: true,
    }),
  )
  const { rows, secret } = rowsOf(name, stored, plan)
  const [row] = rows.channels
  if (row === undefined) throw noSuchChannel(name, stored.channels.filter(isInUse))
  const snapshot = await buildSnapshot(rows, {
    masterKey: context.masterKey,
    environment: (variable) =>
      variable === unsealed ? secret?.reveal() : context.environment(variable),
    revision: 0,
  })
  const channel = snapshot.channels.get(name)
  const vendor = snapshot.vendors.get(row.vendor)
  if (channel === undefined || vendor === undefined) return explainAbsence(snapshot, name)
  const isStored = stored.channels.some((one) => one.name === name && isInUse(one))
  return { channel, vendor, snapshot, isStored }
}

/** Returns the edit of a patch. */
export function patching(draft: DraftPatch): (forms: EntryForms) => EntryForms {
  const { vendors = {}, models = {}, channels = {} } = draft ?? {}
  return (forms) => patchForms(forms, { vendors, models, channels })
}

/** Names a secret that is not sealed yet; no catalogue can name a variable so. */
const unsealed = 'a new secret'

/** The rows of one channel, its vendor and its models as they would become. */
function rowsOf(name: string, stored: CatalogueRows, plan: CataloguePlan) {
  const planned = plan.channels.find(({ row }) => row.name === name)
  const channel: ChannelRow | undefined =
    planned === undefined
      ? stored.channels.find((row) => row.name === name)
      : {
          ...planned.row,
          credential:
            planned.credential.kind === 'as_is' ? planned.credential.text : `env:${unsealed}`,
        }
  const isMine = ({ id }: { readonly id: string }): boolean => channel?.models.has(id) === true
  const rows: CatalogueRows = {
    vendors: [...stored.vendors.filter(isOther(plan.vendors)), ...plan.vendors].filter(
      (row) => row.name === channel?.vendor,
    ),
    models: plan.allModels.filter(isMine).map((model) => ({ ...model, retiredAtMs: undefined })),
    prices: pricesOf(stored.prices, plan).filter(({ model }) => isMine({ id: model })),
    channels: channel !== undefined && isInUse(channel) ? [channel] : [],
  }
  const secret: Secret | undefined =
    planned?.credential.kind === 'to_seal' ? planned.credential.secret : undefined
  return { rows, secret }
}

function isOther(planned: readonly { readonly name: string }[]) {
  const names = new Set(planned.map(({ name }) => name))
  return ({ name }: { readonly name: string }): boolean => !names.has(name)
}

function pricesOf(
  stored: readonly PriceRow[],
  { pricesToSave, pricesToWithdraw }: CataloguePlan,
): readonly PriceRow[] {
  const keyOf = ({ model, validFromMs }: Pick<PriceRow, 'model' | 'validFromMs'>): string =>
    `${model} ${validFromMs}`
  const gone = new Set([...pricesToSave, ...pricesToWithdraw].map(keyOf))
  return [...stored.filter((row) => !gone.has(keyOf(row))), ...pricesToSave].toSorted(
    (left, right) => left.validFromMs - right.validFromMs,
  )
}

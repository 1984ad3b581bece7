/** Lists of the vendors and models of the catalogue, as operators see them. */
import { z } from 'zod'
import { formatDuration } from '../../base/clock.ts'
import { readCatalogue, type ModelRow, type VendorRow } from '../../channels/channel-store.ts'
import { operation, timeText } from '../operation.ts'
import { pageFields, pageOfList } from '../paging.ts'

/** By name. */
export const listVendors = operation(z.strictObject(pageFields), async ({ database }, page) => {
  const { vendors } = await database.snapshot(readCatalogue)
  const cursorOf = ({ name }: VendorRow): string => name
  return pageOfList(vendors.filter(isInUse), page, { cursorOf, view: viewVendor })
})

/** By id. */
export const listModels = operation(z.strictObject(pageFields), async ({ database }, page) => {
  const { models, channels } = await database.snapshot(readCatalogue)
  const used = channels.filter(isInUse)
  return pageOfList(models.filter(isInUse), page, {
    cursorOf: ({ id }) => id,
    view: (model) => ({
      ...viewModel(model),
      channels: used.filter((channel) => channel.models.has(model.id)).map(({ name }) => name),
    }),
  })
})

function isInUse({ retiredAtMs }: { readonly retiredAtMs: number | undefined }): boolean {
  return retiredAtMs === undefined
}

interface VendorView {
  readonly name: string
  readonly format: string
  readonly credential: string
  readonly version_header: string | null
  readonly default_version: string | null
  readonly require_max_tokens: boolean
  readonly allow: readonly string[]
  readonly stored_responses: string
}

function viewVendor(row: VendorRow): VendorView {
  return {
    name: row.name,
    format: row.format,
    credential: row.credential,
    version_header: row.versionHeader ?? null,
    default_version: row.defaultVersion ?? null,
    require_max_tokens: row.requireMaxTokens,
    allow: [...row.allowedFeatures].sort(),
    stored_responses: row.storedResponses,
  }
}

function viewModel(row: ModelRow) {
  return {
    id: row.id,
    vendor: row.vendor,
    max_output_tokens: row.maxOutputTokens ?? null,
    max_input_tokens: row.maxInputTokens ?? null,
    /** Durations such as `30s`; null = the gateway's setting. */
    first_event_timeout: durationOrNull(row.firstEventTimeoutMs),
    ping_timeout: durationOrNull(row.pingTimeoutMs),
    /** Null: all that its prices allow. */
    operations: row.operations === undefined ? null : [...row.operations].sort().map(String),
    created_at: timeText(row.createdAtMs),
  }
}

function durationOrNull(durationMs: number | undefined): string | null {
  return durationMs === undefined ? null : formatDuration(durationMs)
}

/** Requests that change entries of the catalogue, and those that try a channel before it is saved. */
import { api, bodyOf } from '../../api/client.ts'
import type { Entry, Section } from './entry.ts'

/** Changes of entries by section and name: of each a merge patch, or null to retire it. */
export type CataloguePatch = { readonly [Name in Section]?: Readonly<Record<string, Entry | null>> }

interface Sending {
  /** As the form has read it: another operator's change of the same entries since then is a refusal. */
  readonly revision: string
  readonly isDryRun: boolean
}

export function sendPatch(patch: CataloguePatch, { revision, isDryRun }: Sending) {
  return bodyOf(
    api.PATCH('/admin/v1/catalogue', {
      params: { query: { dry_run: isDryRun, revision } },
      body: bodyFor(patch),
    }),
  )
}

export type Planned = Awaited<ReturnType<typeof sendPatch>>

/** Asks the vendor which models it lists. */
export function listVendorModels(channel: string, draft: CataloguePatch) {
  return bodyOf(
    api.POST('/admin/v1/channels/{channel}/models', {
      params: { path: { channel } },
      body: { draft: bodyFor(draft) },
    }),
  )
}

export type VendorModels = Awaited<ReturnType<typeof listVendorModels>>
export type VendorModel = VendorModels['models'][number]

/** Sends one tiny real request, which the vendor bills. Saves nothing. */
export function testChannel(channel: string, draft?: CataloguePatch) {
  return bodyOf(
    api.POST('/admin/v1/channels/{channel}/test', {
      params: { path: { channel } },
      body: draft === undefined ? {} : { draft: bodyFor(draft) },
    }),
  )
}

export type Tested = Awaited<ReturnType<typeof testChannel>>

/** Saves it only where it has served a request; `force` saves it untested. */
export function replaceCredential(channel: string, change: { credential: string; force: boolean }) {
  return bodyOf(
    api.PUT('/admin/v1/channels/{channel}/credential', {
      params: { path: { channel } },
      body: change,
    }),
  )
}

export function restoreCredential(channel: string) {
  return bodyOf(
    api.POST('/admin/v1/channels/{channel}/credential/restore', {
      params: { path: { channel } },
    }),
  )
}

function bodyFor({ vendors, models, channels }: CataloguePatch) {
  return {
    ...(vendors !== undefined && { vendors }),
    ...(models !== undefined && { models }),
    ...(channels !== undefined && { channels }),
  }
}

/**
 * Reads a vendor's listing of its models: both formats have them as `data` with an `id` each, servers that
 * imitate them also as a bare list or below `models`. Pure. Ids that no catalogue could name are left out.
 */
import { asObject, asText, type JsonObject } from './json.ts'

export interface ModelListing {
  readonly ids: readonly string[]
  /** False where the vendor says that it has more models than it lists here. */
  readonly isComplete: boolean
}

const idsMax = 5_000
const idLengthMax = 256

/** Undefined for JSON that lists no models. */
export function readListing(parsed: unknown): ModelListing | undefined {
  const outer = asObject(parsed)
  const items = [parsed, outer?.['data'], outer?.['models']].find((one) => Array.isArray(one))
  if (items === undefined) return undefined
  const ids = (items as unknown[]).map((item) => idOf(asObject(item))).filter((id) => isName(id))
  const isComplete = outer?.['has_more'] !== true && ids.length <= idsMax
  return { ids: [...new Set(ids)].slice(0, idsMax), isComplete }
}

/** Gemini lists `models/NAME`, and is asked for NAME. */
function idOf(item: JsonObject | undefined): string {
  return (asText(item?.['id']) ?? asText(item?.['name']) ?? '').replace(/^models\//, '')
}

function isName(id: string): boolean {
  return id.length <= idLengthMax && /^[\x21-\x7e]+$/.test(id)
}

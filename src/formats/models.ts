/**
 * The two operations that list models. Formats differ only in how they show a model and a list. The relay
 * decides which models a key may see.
 */
import { fault } from './fields.ts'
import type { ListedModel, ModelsOperation, RequestFault } from './format.ts'

export function modelsOperations<Shown>(
  show: (model: ListedModel) => Shown,
  list: (data: readonly Shown[], query: string) => object | RequestFault,
): readonly ModelsOperation[] {
  return [
    {
      kind: 'models',
      name: 'models.list',
      method: 'GET',
      path: '/v1/models',
      answer(models, { query }) {
        const shown = list(models.map(show), query)
        return isFault(shown) ? shown : toJson(shown)
      },
    },
    {
      kind: 'models',
      name: 'models.get',
      method: 'GET',
      path: '/v1/models/*id',
      answer(models, { id }) {
        const model = models.find((candidate) => candidate.id === id)
        return model === undefined ? undefined : toJson(show(model))
      },
    },
  ]
}

function isFault(shown: object): shown is RequestFault {
  return 'kind' in shown && shown.kind === 'fault'
}

/** A part of a list, and whether there is more of it in the direction that was asked for. */
interface Page<Shown> {
  readonly data: readonly Shown[]
  readonly hasMore: boolean
}

const pageLengthMax = 1_000

/**
 * Reads `limit`, `after_id` and `before_id` of a raw query, and returns that page. Without a limit it has all
 * the rest: not every client asks for the next page.
 */
export function pageOf<Shown extends { readonly id: string }>(
  data: readonly Shown[],
  query: string,
): Page<Shown> | RequestFault {
  const asked = new URLSearchParams(query)
  const limit = asked.get('limit')
  const [after, before] = [asked.get('after_id'), asked.get('before_id')]
  if (
    limit !== null &&
    !(/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= pageLengthMax)
  )
    return fault(`limit must be a whole number from 1 to ${pageLengthMax}.`)
  if (after !== null && before !== null) return fault('Give after_id or before_id, not both.')
  const length = limit === null ? data.length : Number(limit)
  const place = data.findIndex(({ id }) => id === (after ?? before))
  if (place === -1 && (after ?? before) !== null)
    return fault('after_id or before_id names no model of this list; begin again without it.')
  if (before !== null) {
    const start = Math.max(place - length, 0)
    return { data: data.slice(start, place), hasMore: start > 0 }
  }
  const end = place + 1 + length
  return { data: data.slice(place + 1, end), hasMore: end < data.length }
}

export function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

/**
 * What changes get from the headers of their request: `Idempotency-Key` makes a change happen once,
 * `If-Match` lets it happen only to the version that the caller has read. Both are decided in the transaction
 * of the change itself.
 */
import { hash } from 'node:crypto'
import { refuse, type Refusal } from '../../base/errors.ts'
import type { Endpoint } from '../../operations/endpoint.ts'
import { matching } from '../../operations/matching.ts'
import { onceOnly } from '../../operations/once.ts'
import type { OperationContext, OperationRefusal } from '../../operations/operation.ts'
import type { Row } from './input.ts'

interface Change {
  readonly row: Omit<Endpoint, 'role'>
  readonly input: Readonly<Record<string, unknown>>
  readonly idempotencyKey: string | undefined
  readonly ifMatch: string | undefined
}

/** Returns the context in which the operation of the row is to run. */
export function contextOf(
  context: OperationContext,
  { row, input, idempotencyKey: name, ifMatch }: Change,
): OperationContext {
  const { read } = row
  const matched =
    ifMatch === undefined || read === undefined
      ? context
      : matching(context, async (inside) => {
          const fields = Object.keys(read.example)
          const outcome = await read.operation(
            inside,
            Object.fromEntries(fields.map((field) => [field, input[field]])),
          )
          return outcome.kind === 'refusal' || isMatch(ifMatch, etagOf(read, outcome.value))
        })
  if (name === undefined || row.repeats === undefined) return matched
  return onceOnly(matched, { tokenId: context.actor, name, hash: hashOf(row, input) })
}

/** Returns the entity tag of a read value; it changes with everything that an operator can change. */
export function etagOf({ untagged = [] }: Pick<Endpoint, 'untagged'>, value: unknown): string {
  const tagged = Object.entries(value as object).filter(([name]) => !untagged.includes(name))
  const text = JSON.stringify(Object.fromEntries(tagged))
  return `"${hash('sha256', text, 'base64url').slice(0, 22)}"`
}

function isMatch(given: string, etag: string): boolean {
  return given
    .split(',')
    .map((one) => one.trim().replace(/^W\//, ''))
    .some((one) => one === '*' || one === etag)
}

/** Members in any order ask for the same. */
function hashOf({ id }: Pick<Endpoint, 'id'>, input: unknown): string {
  return hash('sha256', `${id} ${canonical(input)}`, 'hex')
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`
}

/** Refuses `If-Match` where it would be ignored. Its sender relies on it. */
export function refusalOfMatch(
  row: Row,
  ifMatch: string | undefined,
): OperationRefusal | undefined {
  if (ifMatch === undefined || ('read' in row && row.read !== undefined)) return undefined
  const message =
    'is not supported by this endpoint; changes of an account, a key and the catalogue, and imports of prices, take it'
  return {
    ...refuse('operations.invalid', `If-Match: ${message}`),
    fields: [{ field: 'If-Match', message }],
  }
}

/** Refuses a name that headers and logs could show in two ways. */
export function refusalOfKey(name: string | undefined): Refusal | OperationRefusal | undefined {
  if (name === undefined || /^[\x21-\x7e]{1,255}$/.test(name)) return undefined
  const message = 'must have 1 to 255 printable characters without spaces'
  return {
    ...refuse('operations.invalid', `Idempotency-Key: ${message}`),
    fields: [{ field: 'Idempotency-Key', message }],
  }
}

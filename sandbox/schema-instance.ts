/**
 * Builds a value that fits a JSON schema, for answers in a form that the request asks for and for the input
 * of tools. The same schema gives the same value. It knows the usual keywords; a schema that needs another
 * one (`not`, `if`, `patternProperties`) may get a value that does not fit.
 */
import { textOfFormat, textOfPattern } from './schema-text.ts'

type Schema = Readonly<Record<string, unknown>>

/** Below this depth only what a schema requires is built, so that recursive schemas end. */
const usualDepth = 4
/** No schema that can be met requires more levels, or more values. */
const depthMax = 64
const valuesMax = 10_000

/** `excerpt` is part of each text. */
export function buildInstance(schema: unknown, excerpt: string): unknown {
  return new InstanceBuilder(schema, excerpt).build(schema, { depth: 0, variant: 0 })
}

interface Place {
  readonly depth: number
  /** Which of several values of one schema: items of an array can have to differ. */
  readonly variant: number
}

class InstanceBuilder {
  readonly #root: unknown
  readonly #excerpt: string
  #count = 0

  constructor(root: unknown, excerpt: string) {
    this.#root = root
    this.#excerpt = excerpt
  }

  build(given: unknown, place: Place): unknown {
    if (place.depth > depthMax || ++this.#count > valuesMax) return null
    const schema = this.#settle(asSchema(given), place.depth)
    if ('const' in schema) return schema['const']
    const choices = asList(schema['enum'])
    if (choices.length > 0) return choices[place.variant % choices.length]
    switch (typeOf(schema, place.depth)) {
      case 'object':
        return this.#buildObject(schema, place)
      case 'array':
        return this.#buildArray(schema, place)
      case 'number':
        return buildNumber(schema, place.variant, false)
      case 'integer':
        return buildNumber(schema, place.variant, true)
      case 'boolean':
        return place.variant % 2 === 0
      case 'null':
        return null
      default:
        return this.#buildText(schema, place.variant)
    }
  }

  /** Follows references, joins `allOf`, and chooses one of `anyOf` or `oneOf`. */
  #settle(given: Schema, depth: number): Schema {
    let schema = given
    for (let turn = 0; turn < depthMax; turn++) {
      const { $ref, allOf, anyOf, oneOf, ...own } = schema
      const ways = asList(anyOf ?? oneOf).map(asSchema)
      if (typeof $ref === 'string') schema = join(this.#find($ref), { ...own, allOf, anyOf, oneOf })
      else if (Array.isArray(allOf))
        schema = asList(allOf)
          .map(asSchema)
          .reduce(join, { ...own, anyOf, oneOf })
      else if (ways.length > 0) schema = join(own, this.#chooseWay(ways, depth))
      else return own
    }
    return {}
  }

  /** Deep down the simplest way, so that a list of itself ends in null or in a plain value. */
  #chooseWay(ways: readonly Schema[], depth: number): Schema {
    if (depth < usualDepth) return ways.find((way) => way['type'] !== 'null') ?? {}
    const isPlain = (way: Schema): boolean =>
      plainTypes.has(way['type']) || 'const' in way || 'enum' in way
    return ways.find((way) => way['type'] === 'null') ?? ways.find(isPlain) ?? ways.at(-1) ?? {}
  }

  #find(reference: string): Schema {
    if (!reference.startsWith('#')) return {}
    let found: unknown = this.#root
    for (const part of decodeURIComponent(reference.slice(1)).split('/').slice(1))
      found = asSchema(found)[part.replaceAll('~1', '/').replaceAll('~0', '~')]
    return asSchema(found)
  }

  #buildObject(schema: Schema, { depth }: Place): Record<string, unknown> {
    const properties = asSchema(schema['properties'])
    const { required } = schema
    // A schema that requires nothing by name gets all that it names.
    const names = Array.isArray(required)
      ? asList(required).filter((name) => typeof name === 'string')
      : Object.keys(properties).filter(() => depth < usualDepth)
    const value: Record<string, unknown> = {}
    const add = (name: string, inner: unknown): void => {
      const member = this.build(inner, { depth: depth + 1, variant: 0 })
      Object.defineProperty(value, name, { value: member, enumerable: true })
    }
    for (const name of names) add(name, properties[name] ?? schema['additionalProperties'])
    const others = Object.keys(properties).filter((name) => !names.includes(name))
    for (let extra = 1; Object.keys(value).length < asNumber(schema['minProperties'], 0); extra++) {
      const other = others.shift()
      add(
        other ?? `key_${extra}`,
        other === undefined ? schema['additionalProperties'] : properties[other],
      )
    }
    return value
  }

  #buildArray(schema: Schema, { depth }: Place): unknown[] {
    const first = asList(schema['prefixItems'])
    const most = asNumber(schema['maxItems'], Infinity)
    const usual = depth < usualDepth && schema['items'] !== false ? first.length + 1 : first.length
    const least = Math.max(
      asNumber(schema['minItems'], 0),
      schema['contains'] === undefined ? 0 : 1,
    )
    const count = Math.min(Math.max(least, usual), most, itemsMax)
    const rest = schema['contains'] ?? schema['items']
    return Array.from({ length: count }, (_, index) =>
      this.build(first[index] ?? rest, { depth: depth + 1, variant: index }),
    )
  }

  #buildText(schema: Schema, variant: number): string {
    const { format, pattern } = schema
    const known = typeof format === 'string' ? textOfFormat(format, variant) : undefined
    if (known !== undefined) return known
    const least = asNumber(schema['minLength'], 0)
    if (typeof pattern === 'string') {
      const text = textOfPattern(pattern, { variant, least })
      if (text !== undefined) return text
    }
    const mark = variant === 0 ? '' : `${variant + 1} `
    const excerpt = this.#excerpt.slice(0, 40).toWellFormed()
    const characters = Array.from(`${mark}simulated: ${excerpt}`)
    while (characters.length < least) characters.push('.')
    return characters.slice(0, asNumber(schema['maxLength'], Infinity)).join('')
  }
}

/** More than any test asks for; a larger number would only fill memory. */
const itemsMax = 1_000

const plainTypes: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean'])

function typeOf(schema: Schema, depth: number): unknown {
  const { type } = schema
  if (Array.isArray(type)) {
    const types = asList(type)
    return depth >= usualDepth && types.includes('null')
      ? 'null'
      : (types.find((one) => one !== 'null') ?? 'null')
  }
  if (type !== undefined) return type
  const names = Object.keys(schema)
  return keywordTypes.find(([, keywords]) => names.some((name) => keywords.includes(name)))?.[0]
}

/** The type that a schema without one means, by its keywords. */
const keywordTypes: readonly (readonly [string, readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'minProperties']],
  ['array', ['items', 'prefixItems', 'minItems', 'contains', 'uniqueItems']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
]

function buildNumber(schema: Schema, variant: number, isInteger: boolean): number {
  const above = asNumber(schema['exclusiveMinimum'], -Infinity)
  const below = asNumber(schema['exclusiveMaximum'], Infinity)
  const low = Math.max(asNumber(schema['minimum'], -Infinity), above)
  const high = Math.min(asNumber(schema['maximum'], Infinity), below)
  const step = asNumber(schema['multipleOf'], isInteger ? 1 : 0)
  const start = Math.min(Math.max(1, low), high)
  if (step > 0) {
    let count = Math.ceil(start / step)
    if (count * step <= above) count++
    while (count * step > high || count * step >= below) count--
    const next = (count + variant) * step
    return next <= high && next < below ? next : count * step
  }
  const isOpen = start <= above || start >= below
  if (!isOpen)
    return Math.min(start + variant, high) < below ? Math.min(start + variant, high) : start
  if (Number.isFinite(low) && Number.isFinite(high)) return (low + high) / 2
  return start <= above ? start + 1 + variant : start - 1 - variant
}

/** Both hold: members of both, required in either; of other keywords the second's, where it has them. */
function join(one: Schema, other: Schema): Schema {
  const given = Object.fromEntries(Object.entries(other).filter(([, value]) => value !== undefined))
  const joined: Record<string, unknown> = { ...one, ...given }
  if (one['properties'] !== undefined && given['properties'] !== undefined)
    joined['properties'] = { ...asSchema(one['properties']), ...asSchema(given['properties']) }
  if (one['required'] !== undefined && given['required'] !== undefined)
    joined['required'] = [...new Set([...asList(one['required']), ...asList(given['required'])])]
  return joined
}

function asSchema(value: unknown): Schema {
  if (value === false) return { type: 'null' }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Schema)
    : {}
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function asNumber(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

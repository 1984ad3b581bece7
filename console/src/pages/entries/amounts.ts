/**
 * Prices, cost prices and baselines as forms edit them: one line for each amount, such as
 * `MODEL from DAY PATH: TEXT`, with a model only where the value has some, and a day only where a version has
 * one. Pure.
 */
import { t } from '../../messages/t.ts'
import { formatUsdExact } from '../../ui/format.ts'

type Values = Readonly<Record<string, unknown>>

export interface Amount {
  /** Empty in the prices of a model. */
  readonly model: string
  /** The first moment of its version; empty for the one in force. */
  readonly from: string
  /** Such as `input` or `tiers/batch/multiplier`. */
  readonly path: string
  readonly text: string
}

const line = /^(?:(\S+) )?(?:from (\S+) )?(\S+):(?: (.*))?$/

export function amountsIn(text: string): readonly Amount[] {
  return text.split('\n').flatMap((one) => {
    const [, model = '', from = '', path, amount = ''] = line.exec(one) ?? []
    return path === undefined ? [] : [{ model, from, path, text: amount.trim() }]
  })
}

export function linesOfAmounts(amounts: readonly Amount[]): string {
  return amounts
    .map(({ model, from, path, text }) => {
      const words = [model, from === '' ? '' : `from ${from}`, `${path}: ${text}`]
      return words.filter((word) => word !== '').join(' ')
    })
    .join('\n')
}

/** The amounts of a value of the file: one set of prices, a list of versions, or such by model. */
export function amountsOf(
  value: unknown,
  kind: 'prices' | 'cost' | 'baselines',
): readonly Amount[] {
  if (kind === 'prices') return versionsOf(value).flatMap((one) => amountsOfVersion('', one))
  return Object.entries(recordOf(value)).flatMap(([model, its]) =>
    typeof its === 'object'
      ? versionsOf(its).flatMap((one) => amountsOfVersion(model, one))
      : [
          {
            model: '',
            from: '',
            path: model,
            text: typeof its === 'string' ? its : JSON.stringify(its),
          },
        ],
  )
}

function versionsOf(value: unknown): readonly Values[] {
  return (Array.isArray(value) ? value : [value]).map(recordOf)
}

function amountsOfVersion(model: string, version: Values): readonly Amount[] {
  const { valid_from: from = '', ...prices } = version
  return [...flatten(prices)].map(([path, text]) => ({ model, from: String(from), path, text }))
}

/** `{ tiers: { batch: { multiplier: 0.5 } } }` → `tiers/batch/multiplier` → `0.5`. */
function flatten(value: Values, path = ''): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(value).flatMap(([name, inner]) =>
      typeof inner === 'object' && inner !== null
        ? [...flatten(recordOf(inner), `${path}${name}/`)]
        : [[`${path}${name}`, String(inner)] as const],
    ),
  )
}

/** The value of the file; an amount without a text is not set. */
export function valueOfAmounts(
  amounts: readonly Amount[],
  kind: 'prices' | 'cost' | 'baselines',
): unknown {
  const given = amounts.filter(({ text }) => text !== '')
  if (kind === 'prices') return versions(given)
  const models = [...new Set(given.map(({ model }) => model))].filter((model) => model !== '')
  return {
    ...nested(given.filter(({ model }) => model === '')),
    ...Object.fromEntries(
      models.map((model) => {
        const own = given.filter((one) => one.model === model)
        return [model, kind === 'cost' ? versions(own) : nested(own)]
      }),
    ),
  }
}

function versions(amounts: readonly Amount[]): readonly Values[] {
  return [...new Set(amounts.map(({ from }) => from))].map((from) => ({
    ...nested(amounts.filter((one) => one.from === from)),
    ...(from !== '' && { valid_from: from }),
  }))
}

function nested(amounts: readonly Pick<Amount, 'path' | 'text'>[]): Values {
  const names = new Set(amounts.map(({ path }) => path.replace(/\/.*/, '')))
  return Object.fromEntries<unknown>(
    [...names].map((name): readonly [string, unknown] => {
      const own = amounts.find(({ path }) => path === name)
      if (own !== undefined) return [name, numberOr(own.text)]
      const inner = amounts.filter(({ path }) => path.startsWith(`${name}/`))
      return [name, nested(inner.map((one) => ({ ...one, path: one.path.slice(name.length + 1) })))]
    }),
  )
}

/** A text that is no number stays a text, and the gateway says why. */
export function numberOr(text: string): number | string {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

export function recordOf(value: unknown): Values {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(Object.entries(value))
}

/** The classes that most models have. */
export const mainClasses = (
  ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h'] as const
).map((name) => ({
  name,
  title: t(`figures.classes.${name}`),
  fallback: t(`entries.price.unset.${name}`),
}))

/** The exact decimal text of a class; undefined where the price does not set it. */
export function decimalOf(price: Values | undefined, name: string): string | undefined {
  const value = price?.[name]
  return typeof value === 'number' || typeof value === 'string' ? String(value) : undefined
}

export interface FieldChange {
  readonly field: string
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Returns the parts in which two versions of a price differ. */
export function changesBetween(before: Values, after: Values): readonly FieldChange[] {
  const [from, to] = [flatten(before), flatten(after)]
  return [...new Set([...from.keys(), ...to.keys()])]
    .map((field) => ({ field, from: from.get(field), to: to.get(field) }))
    .filter((change) => change.from !== change.to)
}

/** What a price has besides the main classes: tiers, long context, tools, a fee. */
export function otherLines(price: Values): readonly (readonly [string, string])[] {
  return [...flatten(price)]
    .filter(([path]) => mainClasses.every(({ name }) => name !== path))
    .map(([path, text]) => [fieldTitle(path), amountText(path, text)])
}

/** `price.tiers.batch.multiplier` and `tiers/batch/multiplier` → `tiers · batch · multiplier`. */
export function fieldTitle(field: string): string {
  const path = field.replace(/^price(?= |\.)/, '')
  if (path.startsWith(' from ')) {
    const [, at = '', rest = ''] = /^ from (.+?Z)\.(.*)$/.exec(path) ?? []
    const day = at.slice(0, 16).replace('T', ' ')
    return t('entries.price.fieldFrom', { field: titleOfPath(rest), day })
  }
  return titleOfPath(path.replace(/^\./, ''))
}

function titleOfPath(path: string): string {
  const main = mainClasses.find(({ name }) => name === path)
  return main?.title ?? path.replaceAll('_', ' ').replaceAll(/[./]/g, ' · ')
}

const notAnAmount = /multiplier$|above$|tokens$|timeout$/

/** A price in dollars; a factor or a number of tokens as it is. */
export function amountText(field: string, text: string): string {
  return /^\d+(\.\d+)?$/.test(text) && !notAnAmount.test(field) ? formatUsdExact(text) : text
}

/** +12.5% or −20%; undefined where there is nothing to compare. */
export function changeShare({ from, to }: FieldChange): number | undefined {
  const [before, after] = [Number(from), Number(to)]
  if (!(before > 0) || !Number.isFinite(after)) return undefined
  return (after - before) / before
}

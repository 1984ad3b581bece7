/**
 * A full bill: every count, price and factor that made an amount, so that it can be recomputed at any
 * time. The amount is exact: fractions of a pico-dollar appear only through factors, and are rounded up
 * once, at the end. It knows no catalogue: it keeps the prices of its time.
 */
import { z } from 'zod'
import { addPicos, minPicos, multiplyPicos, picos, type Picos } from '../base/money.ts'
import { unchangedPpm } from './prices.ts'
import { divideUp, type Modifier, type ModifierKind } from './rates.ts'
import { isUse, usageClasses, type UsageClass, type UsageCounts } from './usage.ts'

export interface PriceLine {
  readonly usageClass: UsageClass
  readonly count: number
  readonly pricePicos: Picos
  /** Count × price, before any factor. */
  readonly amountPicos: Picos
}

/** The cost of one part of an answer. */
export interface PricedPart {
  /** The model whose prices were used, by its id in the catalogue. */
  readonly model: string
  readonly isLongContext: boolean
  readonly modifiers: readonly Modifier[]
  readonly lines: readonly PriceLine[]
}

export interface PriceLines {
  readonly parts: readonly PricedPart[]
  readonly feePicos: Picos
  /** The account's own multiplier, applied to the sum. */
  readonly multiplierPpm: number
  /** The limit of this charge, where the counts were not believed. */
  readonly capPicos: Picos | undefined
}

/** A part can have a tier, a speed and a region. */
const modifiersMax = 3
const millionthScale = BigInt(unchangedPpm)
const partScale = millionthScale ** BigInt(modifiersMax)

export function priceLine(usageClass: UsageClass, count: number, pricePicos: Picos): PriceLine {
  return { usageClass, count, pricePicos, amountPicos: multiplyPicos(pricePicos, count) }
}

/** Returns the product of the factors, in units of 1 / `partScale`. */
export function scaledFactor(modifiers: readonly Modifier[]): bigint {
  let factor = partScale
  for (const { ppm } of modifiers)
    if (ppm !== unchangedPpm) factor = (factor / millionthScale) * BigInt(ppm)
  return factor
}

/** Multiplies an amount in units of 1 / `partScale` picos by the account's multiplier; rounds up once. */
export function roundUpScaled(scaledAmount: bigint, multiplierPpm: number): Picos {
  if (multiplierPpm === unchangedPpm) return picos(divideUp(scaledAmount, partScale))
  return picos(divideUp(scaledAmount * BigInt(multiplierPpm), partScale * millionthScale))
}

export function scaleUp(amount: Picos): bigint {
  return amount * partScale
}

/** Recomputes a bill's amount: the same lines always give the same amount. */
export function recompute(bill: PriceLines): Picos {
  const { multiplierPpm, capPicos } = bill
  const amount =
    multiplierPpm === unchangedPpm && bill.parts.every(isUnmodified)
      ? plainSum(bill)
      : modifiedSum(bill)
  return capPicos === undefined ? amount : minPicos(amount, capPicos)
}

function isUnmodified({ modifiers }: PricedPart): boolean {
  return modifiers.length === 0
}

/** Without a factor there are no fractions. */
function plainSum({ feePicos, parts }: PriceLines): Picos {
  let sum = feePicos
  for (const { lines } of parts) for (const line of lines) sum = addPicos(sum, line.amountPicos)
  return sum
}

function modifiedSum(bill: PriceLines): Picos {
  let scaledSum = scaleUp(bill.feePicos)
  for (const part of bill.parts) {
    const factor = scaledFactor(part.modifiers)
    for (const line of part.lines)
      scaledSum += line.amountPicos * (isUse(line.usageClass) ? partScale : factor)
  }
  return roundUpScaled(scaledSum, bill.multiplierPpm)
}

/** Formats the bill as compact JSON, for the ledger; leaves out zero and unchanged values. */
export function formatPriceLines(bill: PriceLines): string {
  return JSON.stringify({
    parts: bill.parts.map((part) => ({
      model: part.model,
      ...(part.isLongContext && { long: true }),
      ...(part.modifiers.length > 0 && {
        modifiers: part.modifiers.map(({ kind, name, ppm }) => [kind, name, ppm]),
      }),
      lines: part.lines.map((line) => [line.usageClass, line.count, String(line.pricePicos)]),
    })),
    ...(bill.feePicos > 0n && { fee: String(bill.feePicos) }),
    ...(bill.multiplierPpm !== unchangedPpm && { multiplier: bill.multiplierPpm }),
    ...(bill.capPicos !== undefined && { cap: String(bill.capPicos) }),
  })
}

const countSchema = z.int().min(0)
const picosSchema = z
  .string()
  .regex(/^\d{1,40}$/)
  .transform((text) => picos(BigInt(text)))
const modifierKinds = ['tier', 'speed', 'geo'] as const satisfies readonly ModifierKind[]

const billSchema = z.object({
  parts: z.array(
    z.object({
      model: z.string(),
      long: z.boolean().default(false),
      modifiers: z
        .array(z.tuple([z.enum(modifierKinds), z.string(), countSchema]))
        .max(modifiersMax)
        .default([]),
      lines: z.array(z.tuple([z.enum(usageClasses), countSchema, picosSchema])),
    }),
  ),
  fee: picosSchema.optional(),
  multiplier: countSchema.default(unchangedPpm),
  cap: picosSchema.optional(),
})

/** Inverse of `formatPriceLines`; throws where the text is not a bill. */
export function parsePriceLines(text: string): PriceLines {
  const bill = billSchema.parse(JSON.parse(text))
  return {
    parts: bill.parts.map((part) => ({
      model: part.model,
      isLongContext: part.long,
      modifiers: part.modifiers.map(([kind, name, ppm]) => ({ kind, name, ppm })),
      lines: part.lines.map(([usageClass, count, price]) => priceLine(usageClass, count, price)),
    })),
    feePicos: bill.fee ?? picos(0n),
    multiplierPpm: bill.multiplier,
    capPicos: bill.cap,
  }
}

/** Returns a bill's amount and its counts by part; throws where the text is not a bill. */
export function readBill(text: string): {
  readonly amountPicos: Picos
  readonly counts: readonly UsageCounts[]
} {
  const bill = parsePriceLines(text)
  return {
    amountPicos: recompute(bill),
    counts: bill.parts.map(({ lines }) =>
      Object.fromEntries(lines.map(({ usageClass, count }) => [usageClass, count])),
    ),
  }
}

/**
 * The form in which operators write what a channel costs them, and in which the store keeps it: a factor
 * on list prices, prices by model in the form of `price:`, or both. Invariant: printing and parsing give
 * the same cost prices.
 */
import { z } from 'zod'
import type { CostPrices } from './cost-prices.ts'
import {
  isFactor,
  parseFactor,
  parseModelPrices,
  priceJsonSchema,
  priceSchema,
  printFactor,
  printModelPrices,
  type DecimalForm,
  type PriceForm,
} from './price-form.ts'
import type { ModelPrices } from './prices.ts'

/** The key that holds a factor. A mapping below it is the price of a model with that name. */
const factorKey = 'factor'

type ModelCostForm = PriceForm | readonly PriceForm[]
type CostForm = Readonly<Record<string, DecimalForm | ModelCostForm>>

const costRule =
  'must be { factor: 0.8 } for a factor on list prices, or a mapping of models to their prices'

/** Validates and parses the value of `cost:`; an issue names the key that is wrong. */
export const costSchema = z
  .custom<unknown>()
  .transform((value, context): CostPrices => {
    const complain = (message: string, path: readonly PropertyKey[] = []): never => {
      context.addIssue({ code: 'custom', message, path: [...path], input: undefined })
      return z.NEVER
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return complain(costRule)
    const entries = Object.entries(value as Readonly<Record<string, unknown>>)
    if (entries.length === 0) return complain(costRule)
    for (const [key, given] of entries) {
      if (isFactorEntry(key, given)) {
        if (!isFactor(given)) complain('must be a factor from 0, with at most 6 decimals', [key])
        continue
      }
      for (const issue of priceSchema.safeParse(given).error?.issues ?? [])
        complain(issue.message, [key, ...issue.path])
    }
    return context.issues.length > 0 ? z.NEVER : parseCost(value as CostForm)
  })
  .meta({
    type: 'object',
    minProperties: 1,
    properties: {
      [factorKey]: { anyOf: [{ type: 'number' }, { type: 'string' }, priceJsonSchema] },
    },
    additionalProperties: priceJsonSchema,
  })

function isFactorEntry(key: string, given: unknown): boolean {
  return key === factorKey && (typeof given !== 'object' || given === null)
}

function parseCost(form: CostForm): CostPrices {
  let factorPpm: number | undefined
  const models = new Map<string, ModelPrices>()
  for (const [key, given] of Object.entries(form))
    if (typeof given === 'object') models.set(key, parseModelPrices(given))
    else factorPpm = parseFactor(given)
  return factorPpm === undefined ? { models } : { factorPpm, models }
}

/** Inverse of `costSchema`. */
export function printCost({ factorPpm, models }: CostPrices): CostForm {
  const prices = [...models].map(([model, versions]) => [model, printModelPrices(versions)])
  return {
    ...(factorPpm !== undefined && { [factorKey]: printFactor(factorPpm) }),
    ...(Object.fromEntries(prices) as CostForm),
  }
}

/** Encodes cost prices as text for the store; exact, because decimals stay decimals. */
export function encodeCost(cost: CostPrices): string {
  return JSON.stringify(printCost(cost))
}

/** Inverse of `encodeCost`; undefined where a newer version wrote the text in another way. */
export function decodeCost(text: string): CostPrices | undefined {
  return costSchema.safeParse(JSON.parse(text)).data
}

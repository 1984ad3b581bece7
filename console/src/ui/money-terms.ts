/**
 * The words for money and what they mean, declared once: every page that shows one of these figures takes its
 * name from here. The invariant: spend − refunds − own cost − lost attempts and checks − of unknown cost =
 * margin.
 */
import { t } from '../messages/t.ts'
import { parsePicos } from './exact.ts'
import { formatUsdFixed, roundedTo } from './format.ts'

interface Term {
  readonly name: string
  readonly meaning: string
}

export const moneyTerms = {
  revenue_usd: { name: t('margin.spend'), meaning: t('margin.spendMeaning') },
  refunded_usd: { name: t('margin.refunds'), meaning: t('margin.refundsMeaning') },
  own_cost_usd: { name: t('margin.ownCost'), meaning: t('margin.ownCostMeaning') },
  estimated_cost_usd: { name: t('margin.lost'), meaning: t('margin.lostMeaning') },
  unknown_cost_revenue_usd: {
    name: t('margin.ofUnknownCost'),
    meaning: t('margin.ofUnknownCostMeaning'),
  },
  known_margin_usd: { name: t('margin.margin'), meaning: t('margin.marginMeaning') },
} as const satisfies Readonly<Record<string, Term>>

type Word = keyof typeof moneyTerms

/** Exact decimal text of each term, as the API gives it. */
export type MoneyFigures = Readonly<Record<Word, string>>

/** Of a time without requests. */
export const noMoney: MoneyFigures & { readonly unknown_cost_requests: number } = {
  revenue_usd: '0',
  refunded_usd: '0',
  own_cost_usd: '0',
  estimated_cost_usd: '0',
  unknown_cost_revenue_usd: '0',
  known_margin_usd: '0',
  unknown_cost_requests: 0,
}

const words = Object.keys(moneyTerms) as readonly Word[]
const picoDigits = 12

interface ShownTerm extends Term {
  readonly word: Word
  readonly usd: string
  /** Rounded so that the shown terms add up to the shown margin. */
  readonly text: string
}

/** Returns the terms in the order of the equation; the margin is the last. */
export function equationOf(figures: MoneyFigures): readonly ShownTerm[] {
  const exact = words.map((word) => parsePicos(figures[word]))
  const digits = placesFor(exact)
  const unit = 10n ** BigInt(picoDigits - digits)
  const rounded = exact.map((picos) => roundedTo(picos, unit))
  settleRest(exact, rounded, unit)
  return words.map((word, index) => ({
    ...moneyTerms[word],
    word,
    usd: figures[word],
    text: formatUsdFixed((rounded[index] ?? 0n) * unit, digits),
  }))
}

/** Cents, or as many places as show three digits of the largest amount. */
function placesFor(amounts: readonly bigint[]): number {
  const largest = amounts.reduce((most, each) => (abs(each) > most ? abs(each) : most), 0n)
  if (largest === 0n || largest >= 10n ** BigInt(picoDigits)) return 2
  const zeros = picoDigits - largest.toString().length
  return Math.min(Math.max(zeros + 3, 2), picoDigits)
}

/** Gives what rounding leaves over to costs that it has moved the other way, never to spend or margin. */
function settleRest(exact: readonly bigint[], rounded: bigint[], unit: bigint): void {
  const [spend = 0n, ...others] = rounded
  const rest = others.reduce((left, each) => left - each, spend)
  const step = rest < 0n ? -1n : 1n
  const lossOf = (index: number): bigint =>
    step * ((exact[index] ?? 0n) - (rounded[index] ?? 0n) * unit)
  // Exactly zero stays zero.
  const isNothing = (index: number): boolean => exact[index] === 0n
  const costs = [1, 2, 3, 4].sort((one, other) =>
    isNothing(one) === isNothing(other)
      ? Number(lossOf(one) < lossOf(other)) - Number(lossOf(one) > lossOf(other))
      : Number(isNothing(one)) - Number(isNothing(other)),
  )
  for (const index of costs.slice(0, Number(abs(rest))))
    rounded[index] = (rounded[index] ?? 0n) + step
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value
}

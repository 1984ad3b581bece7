/** The price of one class of tokens, exact. */
import { formatUsdExact } from '../../ui/format.ts'
import { Missing } from '../../ui/values.tsx'
import { decimalOf, mainClasses } from './price.ts'
import type { PriceVersion } from './queries.ts'

interface ClassPriceProps {
  readonly price: PriceVersion['price'] | undefined
  readonly name: string
  /** Stands beside the price, to tell two in one cell apart. */
  readonly unit?: string
}

export function ClassPrice({ price, name, unit }: ClassPriceProps) {
  const text = decimalOf(price ?? {}, name)
  const fallback = mainClasses.find((each) => each.name === name)?.fallback ?? 'Not set'
  if (text === undefined) return <Missing why={price === undefined ? 'No price' : fallback} />
  return (
    <>
      <data value={text}>{formatUsdExact(text)}</data>
      {unit !== undefined && <span className="soft models-unit"> {unit}</span>}
    </>
  )
}

/** The charge of a request as counts × prices, exact: classes, factors, fee and their sum. Knows no API. */
import { t } from '../messages/t.ts'
import { multiplyUsd, sumUsd } from '../ui/exact.ts'
import { formatInteger, formatUsdExact } from '../ui/format.ts'
import './bill.css'

/** Amounts are exact decimal text. */
interface BillData {
  readonly parts: readonly BillPart[]
  readonly fee_usd: string
  readonly multiplier: string
  readonly at_most_usd: string | null
}

interface BillPart {
  readonly model: string
  readonly long_context: boolean
  readonly factors: readonly {
    readonly kind: string
    readonly name: string
    readonly factor: string
  }[]
  readonly lines: readonly BillLine[]
}

interface BillLine {
  readonly class: string
  readonly count: number
  readonly price_usd: string
  readonly amount_usd: string
}

interface BillProps {
  readonly bill: BillData
  readonly cost: string
  /** The refund, and the rest of the cost. */
  readonly refund?: { readonly amount: string; readonly paid: string } | undefined
}

export function BillTable({ bill, cost, refund }: BillProps) {
  const { parts, fee_usd: fee, multiplier, at_most_usd: most } = bill
  const amounts = parts.flatMap(({ lines }) => lines.map(({ amount_usd: amount }) => amount))
  const isScaled =
    multiplier !== '1' || most !== null || parts.some(({ factors }) => factors.length > 0)
  return (
    <div className="bill-frame" tabIndex={0} role="region" aria-label={t('figures.bill')}>
      <table className="bill">
        <thead>
          <tr>
            <th scope="col">{t('figures.class')}</th>
            <th scope="col">{t('figures.count')}</th>
            <th scope="col">{t('figures.price')}</th>
            <th scope="col">{t('figures.amount')}</th>
          </tr>
        </thead>
        {parts.map((part, index) => (
          <PartRows key={index} part={part} isNamed={parts.length > 1} />
        ))}
        <tfoot>
          {fee !== '0' && <TextRow name={t('figures.fee')} text={formatUsdExact(fee)} />}
          {isScaled && (
            <TextRow name={t('figures.listSum')} text={formatUsdExact(sumUsd([...amounts, fee]))} />
          )}
          {multiplier !== '1' && (
            <TextRow name={t('figures.multiplier')} text={`× ${multiplier}`} />
          )}
          {most !== null && <TextRow name={t('figures.atMost')} text={formatUsdExact(most)} />}
          <TextRow name={t('figures.cost')} text={formatUsdExact(cost)} isTotal />
          {refund !== undefined && (
            <>
              <TextRow name={t('figures.refund')} text={formatUsdExact(`-${refund.amount}`)} />
              <TextRow name={t('figures.paid')} text={formatUsdExact(refund.paid)} isTotal />
            </>
          )}
        </tfoot>
      </table>
    </div>
  )
}

function PartRows({ part, isNamed }: { part: BillPart; isNamed: boolean }) {
  const { model, long_context: isLong, lines, factors } = part
  return (
    <tbody>
      {(isNamed || isLong) && (
        <tr>
          <th colSpan={4} scope="colgroup">
            {isLong ? t('figures.longContext', { model }) : model}
          </th>
        </tr>
      )}
      {lines.map((line) => (
        <tr key={line.class}>
          <th scope="row">{className(line.class)}</th>
          <td>{formatInteger(line.count)}</td>
          <td>
            <Price line={line} />
          </td>
          <td>{formatUsdExact(line.amount_usd)}</td>
        </tr>
      ))}
      {factors.map(({ kind, name, factor }) => (
        <TextRow
          key={`${kind} ${name}`}
          name={t('figures.factor', { kind, name })}
          text={`× ${factor}`}
        />
      ))}
    </tbody>
  )
}

function Price({ line }: { line: BillLine }) {
  const each = formatUsdExact(line.price_usd)
  if (uses.has(line.class)) return <>{t('figures.each', { price: each })}</>
  return (
    <span data-tip={t('figures.perToken', { price: each })}>
      {formatUsdExact(multiplyUsd(line.price_usd, 1_000_000))} <span className="soft">/ 1M</span>
    </span>
  )
}

function TextRow(props: { name: string; text: string; isTotal?: boolean }) {
  const { name, text, isTotal = false } = props
  return (
    <tr className={isTotal ? 'bill-total' : undefined}>
      <th scope="row" colSpan={3}>
        {name}
      </th>
      <td>{text}</td>
    </tr>
  )
}

/** Classes of tokens in the order of a price list, then uses. */
const classes = [
  'input',
  'output',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'input_audio',
  'output_audio',
  'cache_read_audio',
  'web_search',
  'file_search',
  'code_interpreter',
  'image_generation',
] as const
const uses: ReadonlySet<string> = new Set(classes.slice(8))

/** A class of another release keeps its word. */
export function className(word: string): string {
  const known = classes.find((one) => one === word)
  return known === undefined ? word.replaceAll('_', ' ') : t(`figures.classes.${known}`)
}

/** Returns the classes among `words` in the order of a price list, unknown ones last. */
export function inPriceOrder(words: Iterable<string>): readonly string[] {
  const place = (word: string): number => {
    const found = classes.findIndex((one) => one === word)
    return found === -1 ? classes.length : found
  }
  return [...words].sort((one, other) => place(one) - place(other) || (one < other ? -1 : 1))
}

/** The charge as tokens × prices, exact: classes, factors, fee, multiplier, and their sum. */
import { Card } from '../../ui/card.tsx'
import { multiplyUsd, sumUsd } from '../../ui/exact.ts'
import { formatInteger, formatUsdExact } from '../../ui/format.ts'
import { Empty } from '../../ui/states.tsx'
import type { RequestInFull } from './queries.ts'
import '../../ui/table.css'

type BillData = NonNullable<RequestInFull['bill']>
type Part = BillData['parts'][number]
type Line = Part['lines'][number]

export function Bill({ request }: { request: RequestInFull }) {
  const { bill, cost_usd: cost, tokens } = request
  if (bill === null)
    return (
      <Card title="Tokens × prices">
        <Empty title="There is nothing to calculate.">{request.charge_explanation}</Empty>
        {Object.keys(tokens).length > 0 && (
          <p className="soft">
            Counted, not charged:{' '}
            {Object.entries(tokens)
              .map(([name, count]) => `${formatInteger(count)} ${classWords(name)}`)
              .join(', ')}
          </p>
        )}
      </Card>
    )
  return (
    <Card title="Tokens × prices" hint="All amounts are exact" isFlush>
      <BillTable bill={bill} cost={cost} />
      <div className="bill-arithmetic">
        <h3>As arithmetic</h3>
        <code className="break">{bill.calculation}</code>
      </div>
    </Card>
  )
}

function BillTable({ bill, cost }: { bill: BillData; cost: string }) {
  const lines = bill.parts.flatMap((part) => part.lines)
  const isScaled =
    bill.multiplier !== '1' || bill.at_most_usd !== null || bill.parts.some(hasFactors)
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label="Tokens times prices">
      <table className="bill">
        <thead>
          <tr>
            <th scope="col">Class</th>
            <th scope="col" className="number">
              Count
            </th>
            <th scope="col" className="number">
              Price
            </th>
            <th scope="col" className="number">
              Amount
            </th>
          </tr>
        </thead>
        {bill.parts.map((part, index) => (
          <PartRows key={index} part={part} isNamed={bill.parts.length > 1} />
        ))}
        <tfoot>
          {bill.fee_usd !== '0' && <SumRow name="Fee of each request" amount={bill.fee_usd} />}
          {isScaled && (
            <SumRow
              name="Sum at list prices"
              amount={sumUsd([...lines.map(({ amount_usd: amount }) => amount), bill.fee_usd])}
            />
          )}
          {bill.multiplier !== '1' && (
            <NoteRow name="Price multiplier of the account" text={`× ${bill.multiplier}`} />
          )}
          {bill.at_most_usd !== null && (
            <SumRow name="At most the hold" amount={bill.at_most_usd} />
          )}
          <SumRow name="Charge" amount={cost} isTotal />
        </tfoot>
      </table>
    </div>
  )
}

function hasFactors({ factors }: Part): boolean {
  return factors.length > 0
}

function PartRows({ part, isNamed }: { part: Part; isNamed: boolean }) {
  return (
    <tbody>
      {(isNamed || part.long_context) && (
        <tr>
          <th colSpan={4} scope="colgroup">
            {part.model}
            {part.long_context && ' · prices for a long context'}
          </th>
        </tr>
      )}
      {part.lines.map((line) => (
        <LineRow key={line.class} line={line} />
      ))}
      {part.factors.map(({ kind, name, factor }) => (
        <NoteRow
          key={`${kind} ${name}`}
          name={`Factor on tokens: ${kind} ${name}`}
          text={`× ${factor}`}
        />
      ))}
    </tbody>
  )
}

function LineRow({ line }: { line: Line }) {
  return (
    <tr>
      <th scope="row">{classWords(line.class)}</th>
      <td className="number">{formatInteger(line.count)}</td>
      <td className="number">
        <Price line={line} />
      </td>
      <td className="number">{formatUsdExact(line.amount_usd)}</td>
    </tr>
  )
}

const uses: ReadonlySet<string> = new Set([
  'web_search',
  'file_search',
  'code_interpreter',
  'image_generation',
])

function Price({ line }: { line: Line }) {
  const each = formatUsdExact(line.price_usd)
  if (uses.has(line.class)) return <>{each} each</>
  return (
    <span data-tip={`${each} for one token`}>
      {formatUsdExact(multiplyUsd(line.price_usd, 1_000_000))} <span className="soft">/ 1M</span>
    </span>
  )
}

interface SumRowProps {
  readonly name: string
  readonly amount: string
  readonly isTotal?: boolean
}

function SumRow({ name, amount, isTotal = false }: SumRowProps) {
  return (
    <tr className={isTotal ? 'bill-total' : undefined}>
      <th scope="row" colSpan={3}>
        {name}
      </th>
      <td className="number">{formatUsdExact(amount)}</td>
    </tr>
  )
}

function NoteRow({ name, text }: { name: string; text: string }) {
  return (
    <tr>
      <th scope="row" colSpan={3}>
        {name}
      </th>
      <td className="number">{text}</td>
    </tr>
  )
}

/** cache_write_5m → cache write, 5 min. */
function classWords(name: string): string {
  return known[name] ?? name.replaceAll('_', ' ')
}

const known: Readonly<Record<string, string>> = {
  input: 'Input',
  output: 'Output',
  cache_read: 'Cache read',
  cache_write_5m: 'Cache write, 5 minutes',
  cache_write_1h: 'Cache write, 1 hour',
  input_audio: 'Audio input',
  output_audio: 'Audio output',
  cache_read_audio: 'Audio from the cache',
  web_search: 'Web searches',
  file_search: 'File searches',
  code_interpreter: 'Code runs',
  image_generation: 'Images',
}

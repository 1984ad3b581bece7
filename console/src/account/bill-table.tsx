/** Count × price = amount of each class, then factors, fee and refund: the exact way to the cost. */
import type { ReactNode } from 'react'
import { sumUsd } from '../ui/exact.ts'
import { formatInteger, formatUsdExact } from '../ui/format.ts'
import type { Bill, RequestInFull } from './forms.ts'
import { className } from './words.ts'

export function BillTable({ request }: { request: RequestInFull }) {
  const { bill, cost, refund, paid } = request
  if (bill === null)
    return (
      <p className="soft">
        {/[1-9]/.test(cost)
          ? `${formatUsdExact(cost)}. The details of this charge are no longer kept.`
          : 'This request cost nothing.'}
      </p>
    )
  return (
    <div className="bill" tabIndex={0} role="region" aria-label="Cost of the request">
      <table>
        <thead>
          <tr>
            <th scope="col">Class</th>
            <th scope="col">Count</th>
            <th scope="col">Price of one</th>
            <th scope="col">Amount</th>
          </tr>
        </thead>
        <tbody>
          {bill.parts.map((part, index) => (
            <PartLines key={index} part={part} isOnly={bill.parts.length === 1} />
          ))}
          {/[1-9]/.test(bill.fee_usd) && <Line name="Fee of a request" amount={bill.fee_usd} />}
        </tbody>
        <tfoot>
          {bill.multiplier !== '1' && (
            <Factor name="Your factor on list prices" factor={bill.multiplier} />
          )}
          {bill.at_most_usd !== null && <Line name="At most" amount={bill.at_most_usd} />}
          <Line name="Cost" amount={cost} isTotal />
          {refund !== null && <Line name="Refund" amount={`-${refund.amount}`} />}
          {refund !== null && <Line name="Paid" amount={paid} isTotal />}
        </tfoot>
      </table>
    </div>
  )
}

type Part = Bill['parts'][number]

function PartLines({ part, isOnly }: { part: Part; isOnly: boolean }) {
  const title = [
    ...(isOnly ? [] : [part.model]),
    ...(part.long_context ? ['prices of long prompts'] : []),
  ].join(', ')
  return (
    <>
      {title !== '' && (
        <tr>
          <th scope="rowgroup" colSpan={4} className="bill-part">
            {title}
          </th>
        </tr>
      )}
      {part.lines.map(({ class: word, count, price_usd: price, amount_usd: amount }) => (
        <tr key={word}>
          <th scope="row">{className(word)}</th>
          <td>{formatInteger(count)}</td>
          <td>× {formatUsdExact(price)}</td>
          <td>= {formatUsdExact(amount)}</td>
        </tr>
      ))}
      {part.lines.length > 1 && part.factors.length > 0 && (
        <Line name="Sum" amount={sumUsd(part.lines.map(({ amount_usd: amount }) => amount))} />
      )}
      {part.factors.map(({ kind, name, factor }) => (
        <Factor key={kind} name={`${kind} ${name}, on tokens`} factor={factor} />
      ))}
    </>
  )
}

function Line(props: { name: ReactNode; amount: string; isTotal?: boolean }) {
  const { name, amount, isTotal = false } = props
  return (
    <tr className={isTotal ? 'bill-total' : undefined}>
      <th scope="row" colSpan={3}>
        {name}
      </th>
      <td>{formatUsdExact(amount)}</td>
    </tr>
  )
}

function Factor({ name, factor }: { name: string; factor: string }) {
  return (
    <tr>
      <th scope="row" colSpan={3}>
        {name}
      </th>
      <td>× {factor}</td>
    </tr>
  )
}

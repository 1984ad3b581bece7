/** What the request left to the operator: charge less refund, own cost and lost cost. */
import type { ReactNode } from 'react'
import { Card } from '../../ui/card.tsx'
import { subtractUsd } from '../../ui/exact.ts'
import { formatUsdExact } from '../../ui/format.ts'
import { moneyTerms } from '../../ui/money-terms.ts'
import type { RequestInFull } from './queries.ts'

export function Margin({ request }: { request: RequestInFull }) {
  const { cost_usd: cost, own_cost_usd: own, lost_cost_usd: lost, refund } = request
  const refunded = refund?.amount_usd ?? '0'
  // What no account pays has no own cost in its record.
  const isFree = own === null && cost === '0'
  const margin = own === null && !isFree ? null : subtractUsd(cost, refunded, own ?? '0', lost)
  return (
    <Card title="Own cost and margin">
      <dl className="margin">
        <Row name="Charge">{formatUsdExact(cost)}</Row>
        {refund !== null && <Row name="Refund">{minus(refunded)}</Row>}
        <Row
          name={moneyTerms.own_cost_usd.name}
          note={
            own === null && !isFree
              ? 'The channel has no cost prices.'
              : 'At the cost prices of the channel.'
          }
        >
          {own === null ? (isFree ? formatUsdExact('0') : 'not known') : minus(own)}
        </Row>
        {lost !== '0' && (
          <Row name="Lost attempts" note="Estimated: of attempts and answers that no account pays.">
            {minus(lost)}
          </Row>
        )}
        <div className="margin-total">
          <dt>{moneyTerms.known_margin_usd.name}</dt>
          <dd className={margin !== null && margin.startsWith('-') ? 'bad' : ''}>
            {margin === null ? 'not known' : formatUsdExact(margin)}
          </dd>
        </div>
      </dl>
    </Card>
  )
}

function minus(usd: string): string {
  return usd === '0' ? formatUsdExact(usd) : `−${formatUsdExact(usd)}`
}

function Row({ name, note, children }: { name: string; note?: string; children: ReactNode }) {
  return (
    <div>
      <dt>
        {name}
        {note !== undefined && <span className="margin-note">{note}</span>}
      </dt>
      <dd>{children}</dd>
    </div>
  )
}

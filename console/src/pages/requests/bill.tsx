/** The charge of a request as its bill, and what the request left to the operator. */
import type { ReactNode } from 'react'
import { BillTable, className } from '../../figures/bill.tsx'
import { t } from '../../messages/t.ts'
import { Card } from '../../ui/card.tsx'
import { subtractUsd } from '../../ui/exact.ts'
import { formatInteger, formatUsdExact } from '../../ui/format.ts'
import { Empty } from '../../ui/states.tsx'
import type { RequestInFull } from './queries.ts'

export function Bill({ request }: { request: RequestInFull }) {
  const { bill, cost_usd: cost, tokens } = request
  if (bill === null)
    return (
      <Card title={t('requests.bill')}>
        <Empty title={t('requests.noBill')}>{request.charge_explanation}</Empty>
        {Object.keys(tokens).length > 0 && (
          <p className="soft">
            {t('requests.counted')}{' '}
            {Object.entries(tokens)
              .map(([name, count]) => `${formatInteger(count)} ${className(name)}`)
              .join(', ')}
          </p>
        )}
      </Card>
    )
  return (
    <Card title={t('requests.bill')} hint={t('requests.exact')} isFlush>
      <BillTable bill={bill} cost={cost} />
      <div className="card-body">
        <h3>{t('requests.arithmetic')}</h3>
        <code className="break">{bill.calculation}</code>
      </div>
    </Card>
  )
}

/** What the request left to the operator: charge less refund, own cost and lost cost. */
export function Margin({ request }: { request: RequestInFull }) {
  const { cost_usd: cost, own_cost_usd: own, lost_cost_usd: lost, refund } = request
  const refunded = refund?.amount_usd ?? '0'
  // What no account pays has no own cost in its record.
  const isKnown = own !== null || cost === '0'
  const margin = subtractUsd(cost, refunded, own ?? '0', lost)
  return (
    <Card title={t('requests.ownCostAndMargin')}>
      <dl className="stack margin">
        <Amount name={t('requests.charge')}>{formatUsdExact(cost)}</Amount>
        {refund !== null && <Amount name={t('requests.refund')}>{minus(refunded)}</Amount>}
        <Amount
          name={t('requests.ownCost')}
          note={t(isKnown ? 'requests.atCostPrices' : 'requests.noCostPrices')}
        >
          {isKnown ? minus(own ?? '0') : t('requests.notKnown')}
        </Amount>
        {lost !== '0' && (
          <Amount name={t('requests.lostAttempts')} note={t('requests.lostNote')}>
            {minus(lost)}
          </Amount>
        )}
        <div className="row row-between">
          <dt>{t('requests.margin')}</dt>
          <dd className={isKnown && margin.startsWith('-') ? 'bad nowrap' : 'nowrap'}>
            {isKnown ? formatUsdExact(margin) : t('requests.notKnown')}
          </dd>
        </div>
      </dl>
    </Card>
  )
}

function minus(usd: string): string {
  return usd === '0' ? formatUsdExact(usd) : `−${formatUsdExact(usd)}`
}

function Amount({ name, note, children }: { name: string; note?: string; children: ReactNode }) {
  return (
    <div className="row row-between">
      <dt>
        {name}
        {note !== undefined && <div className="soft small">{note}</div>}
      </dt>
      <dd className="nowrap">{children}</dd>
    </div>
  )
}

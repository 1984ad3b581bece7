/**
 * The charge as tokens × prices, exact: classes, factors, fee, multiplier, and their sum; and what the
 * request left to the operator.
 */
import type { ReactNode } from 'react'
import { t } from '../../messages/t.ts'
import { Card } from '../../ui/card.tsx'
import { multiplyUsd, subtractUsd, sumUsd } from '../../ui/exact.ts'
import { formatInteger, formatUsdExact } from '../../ui/format.ts'
import { Empty } from '../../ui/states.tsx'
import type { RequestInFull } from './queries.ts'

type BillData = NonNullable<RequestInFull['bill']>
type Part = BillData['parts'][number]

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
              .map(([name, count]) => `${formatInteger(count)} ${classWords(name)}`)
              .join(', ')}
          </p>
        )}
      </Card>
    )
  return (
    <Card title={t('requests.bill')} hint={t('requests.exact')} isFlush>
      <BillTable bill={bill} cost={cost} />
      <div className="bill-arithmetic">
        <h3>{t('requests.arithmetic')}</h3>
        <code className="break">{bill.calculation}</code>
      </div>
    </Card>
  )
}

function BillTable({ bill, cost }: { bill: BillData; cost: string }) {
  const amounts = bill.parts.flatMap(({ lines }) => lines.map(({ amount_usd: amount }) => amount))
  const isScaled =
    bill.multiplier !== '1' ||
    bill.at_most_usd !== null ||
    bill.parts.some(({ factors }) => factors.length > 0)
  return (
    <div className="bill-frame" tabIndex={0} role="region" aria-label={t('requests.billLabel')}>
      <table className="bill">
        <thead>
          <tr>
            <th scope="col">{t('requests.class')}</th>
            <th scope="col">{t('requests.count')}</th>
            <th scope="col">{t('requests.price')}</th>
            <th scope="col">{t('requests.amount')}</th>
          </tr>
        </thead>
        {bill.parts.map((part, index) => (
          <PartRows key={index} part={part} isNamed={bill.parts.length > 1} />
        ))}
        <tfoot>
          {bill.fee_usd !== '0' && <SumRow name={t('requests.fee')} amount={bill.fee_usd} />}
          {isScaled && (
            <SumRow name={t('requests.listSum')} amount={sumUsd([...amounts, bill.fee_usd])} />
          )}
          {bill.multiplier !== '1' && (
            <TextRow name={t('requests.multiplier')} text={`× ${bill.multiplier}`} />
          )}
          {bill.at_most_usd !== null && (
            <SumRow name={t('requests.atMostHold')} amount={bill.at_most_usd} />
          )}
          <SumRow name={t('requests.charge')} amount={cost} isTotal />
        </tfoot>
      </table>
    </div>
  )
}

function PartRows({ part, isNamed }: { part: Part; isNamed: boolean }) {
  const { model, long_context: isLong, lines, factors } = part
  return (
    <tbody>
      {(isNamed || isLong) && (
        <tr>
          <th colSpan={4} scope="colgroup">
            {isLong ? t('requests.longContext', { model }) : model}
          </th>
        </tr>
      )}
      {lines.map((line) => (
        <tr key={line.class}>
          <th scope="row">{classWords(line.class)}</th>
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
          name={t('requests.factor', { kind, name })}
          text={`× ${factor}`}
        />
      ))}
    </tbody>
  )
}

const uses: ReadonlySet<string> = new Set([
  'web_search',
  'file_search',
  'code_interpreter',
  'image_generation',
])

function Price({ line }: { line: Part['lines'][number] }) {
  const each = formatUsdExact(line.price_usd)
  if (uses.has(line.class)) return <>{t('requests.each', { price: each })}</>
  return (
    <span data-tip={t('requests.perToken', { price: each })}>
      {formatUsdExact(multiplyUsd(line.price_usd, 1_000_000))} <span className="soft">/ 1M</span>
    </span>
  )
}

function SumRow(props: { name: string; amount: string; isTotal?: boolean }) {
  const { name, amount, isTotal } = props
  return <TextRow name={name} text={formatUsdExact(amount)} {...(isTotal && { isTotal })} />
}

function TextRow({ name, text, isTotal }: { name: string; text: string; isTotal?: boolean }) {
  return (
    <tr className={isTotal === true ? 'bill-total' : undefined}>
      <th scope="row" colSpan={3}>
        {name}
      </th>
      <td>{text}</td>
    </tr>
  )
}

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

/** A class of another release keeps its own word. */
export function classWords(name: string): string {
  const known = classes.find((one) => one === name)
  return known === undefined ? name.replaceAll('_', ' ') : t(`requests.classes.${known}`)
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
      <dl className="margin">
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
        <div className="margin-total">
          <dt>{t('requests.margin')}</dt>
          <dd className={isKnown && margin.startsWith('-') ? 'bad' : ''}>
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
    <div>
      <dt>
        {name}
        {note !== undefined && <span className="field-hint">{note}</span>}
      </dt>
      <dd>{children}</dd>
    </div>
  )
}

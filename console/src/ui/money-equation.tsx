/** How the margin comes about, as one line that adds up; the exact amounts are in the tips. */
import { t } from '../messages/t.ts'
import { Card } from './card.tsx'
import { formatUsdExact } from './format.ts'
import { equationOf, type MoneyFigures } from './money-terms.ts'
import './money-equation.css'

interface MoneyEquationProps {
  /** Which time and part of the traffic it is of: "Today", "The last 30 days". */
  readonly hint: string
  readonly figures: MoneyFigures & { readonly unknown_cost_requests: number }
}

export function MoneyEquation({ hint, figures }: MoneyEquationProps) {
  const { unknown_cost_requests: unknown } = figures
  return (
    <Card title={t('margin.equation')} hint={hint}>
      <dl className="equation">
        {equationOf(figures).map(({ word, name, meaning, usd, text }) => (
          <div key={word}>
            <dt className="soft small" data-tip={meaning}>
              {name}
            </dt>
            <dd>
              <span className="equation-sign">{signOf(word)}</span>
              <data value={usd} data-tip={t('ui.value.exactly', { amount: formatUsdExact(usd) })}>
                {text}
              </data>
            </dd>
          </div>
        ))}
      </dl>
      {unknown > 0 && <p className="soft">{t('margin.unknownCost', { count: unknown })}</p>}
    </Card>
  )
}

function signOf(word: string): string {
  if (word === 'revenue_usd') return ''
  return word === 'known_margin_usd' ? '=' : '−'
}

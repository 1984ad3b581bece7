/** The figures of a statement, for the account's holder and for operators. Knows no API. */
import { t } from '../messages/t.ts'
import { Figure, Figures } from '../ui/card.tsx'
import { Time, Usd } from '../ui/values.tsx'

/** Exact decimal text. */
interface StatementSums {
  /** Its beginning; null = that of the account. */
  readonly from: string | null
  readonly requests: number
  readonly opening: string
  readonly charged: string
  readonly refunds: string
  readonly credits: string
  readonly adjustments: string
  readonly closing: string
}

export function StatementFigures({ of: sums }: { of: StatementSums }) {
  const { from, requests, adjustments } = sums
  return (
    <Figures>
      <Figure
        label={t('figures.opening')}
        value={<Usd value={sums.opening} />}
        note={from === null ? t('figures.beginning') : <Time at={from} />}
      />
      <Figure
        label={t('figures.charged')}
        value={<Usd value={sums.charged} />}
        note={t('figures.requests', { count: requests })}
      />
      <Figure
        label={t('figures.refunds')}
        value={<Usd value={sums.refunds} />}
        note={t('figures.refundsNote')}
      />
      <Figure
        label={t('figures.credits')}
        value={<Usd value={sums.credits} />}
        note={
          adjustments === '0'
            ? t('figures.noCorrections')
            : t.rich('figures.corrections', { amount: () => <Usd value={adjustments} /> })
        }
      />
      <Figure
        label={t('figures.closing')}
        value={<Usd value={sums.closing} />}
        note={t('figures.closingNote')}
      />
    </Figures>
  )
}

/** The figures and the lines of a statement, for the account's holder and for operators. Knows no API. */
import type { ReactNode } from 'react'
import { t } from '../messages/t.ts'
import { Badge, Figure, Figures, type Tone } from '../ui/card.tsx'
import { defineList, type ListDefinition } from '../ui/list/define.ts'
import { Empty } from '../ui/states.tsx'
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

interface StatementLine {
  readonly sequence: number
  readonly at: string
  readonly kind: string
  readonly amount: string
  readonly balance: string
  readonly request: string | null
  readonly reference: string
  readonly exchange: {
    readonly model: string
    readonly key: string
    readonly calculation: string
  } | null
  /** Only operators see it. */
  readonly note?: string | null
}

interface StatementOptions {
  readonly name: string
  readonly caption: string
  /** A link to a request; its text is undefined where its details are no longer kept. */
  readonly requestLink: (id: string, text: string | undefined) => ReactNode
}

const tones = {
  charge: 'neutral',
  credit: 'good',
  adjustment: 'warn',
  refund: 'accent',
} as const satisfies Readonly<Record<string, Tone>>

function isKind(word: string): word is keyof typeof tones {
  return word in tones
}

export function statementList({
  name,
  caption,
  requestLink,
}: StatementOptions): ListDefinition<StatementLine> {
  return defineList<StatementLine>({
    name,
    caption,
    rowKey: ({ sequence }) => String(sequence),
    columns: [
      { id: 'time', name: t('figures.time'), place: 'note', cell: ({ at }) => <Time at={at} /> },
      {
        id: 'kind',
        name: t('figures.kind'),
        place: 'state',
        cell: ({ kind }) =>
          isKind(kind) ? <Badge tone={tones[kind]}>{t(`figures.entries.${kind}`)}</Badge> : kind,
      },
      {
        id: 'what',
        name: t('figures.what'),
        place: 'name',
        cell: ({ request, reference, exchange, note = null }) => (
          <>
            {request === null
              ? reference
              : requestLink(
                  request,
                  exchange === null ? undefined : `${exchange.model} · ${exchange.key}`,
                )}
            {exchange !== null && <div className="soft small">{exchange.calculation}</div>}
            {note !== null && <div className="soft small">{note}</div>}
          </>
        ),
      },
      {
        id: 'amount',
        name: t('figures.amount'),
        isNumber: true,
        place: 'amount',
        cell: ({ amount }) => <Usd value={amount} signed places={6} />,
      },
      {
        id: 'balance',
        name: t('figures.balance'),
        isNumber: true,
        cell: ({ balance }) => <Usd value={balance} places={2} />,
      },
    ],
    empty: <Empty title={t('figures.nothingBooked')}>{t('figures.chooseDays')}</Empty>,
  })
}

/** The prices in force as this account pays them: list price times the account's factor, exact. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { className, inPriceOrder } from '../figures/bill.tsx'
import { t } from '../messages/t.ts'
import { Notice } from '../ui/card.tsx'
import { scaleUsd, usdText } from '../ui/exact.ts'
import { formatInteger, formatUsdExact } from '../ui/format.ts'
import type { ListColumn } from '../ui/list/define.ts'
import { Filters } from '../ui/list/filters.tsx'
import { List } from '../ui/list/list.tsx'
import { Empty, Shown } from '../ui/states.tsx'
import { Missing } from '../ui/values.tsx'
import type { ModelPrice } from './answers.ts'
import { pricesQuery } from './read.ts'

interface PricesProps {
  readonly multiplier: string
  readonly prices: readonly ModelPrice[]
}

export function Prices() {
  return <Shown query={useQuery(pricesQuery)}>{(data) => <PriceList {...data} />}</Shown>
}

function PriceList({ multiplier, prices }: PricesProps) {
  const [part, setPart] = useState<string>()
  const wanted = (part ?? '').trim().toLowerCase()
  const rows = prices.filter(({ model }) => model.toLowerCase().includes(wanted))
  const columns = columnsOf({ multiplier, prices })
  return (
    <>
      {multiplier !== '1' && (
        <Notice tone="accent">{t('account.youPay', { factor: multiplier })}</Notice>
      )}
      <Filters
        filters={[{ kind: 'text', name: 'model', label: t('account.model') }]}
        values={{ model: part }}
        onChange={({ model }) => setPart(model)}
      />
      <List
        of={{
          name: 'account-page-prices',
          caption: t('account.tabs.prices'),
          columns,
          rowKey: ({ model }) => model,
          rowName: ({ model }) => model,
          empty: <Empty title={t('account.noPrice')} />,
        }}
        title={t('account.tabs.prices')}
        hint={t('account.pricesHint')}
        list={{ rows }}
        file="prices"
      />
    </>
  )
}

function columnsOf({ multiplier: factor, prices }: PricesProps): readonly ListColumn<ModelPrice>[] {
  const classes = new Set(prices.flatMap(({ price }) => Object.keys(price)))
  const named = inPriceOrder(classes).filter((word) =>
    prices.some(({ price }) => priceIn(price, word) !== undefined),
  )
  const isPlain = prices.every(({ price }) => furtherPrices(price, factor).length === 0)
  return [
    {
      id: 'model',
      name: t('account.model'),
      place: 'name',
      cell: ({ model }) => <strong>{model}</strong>,
      value: ({ model }) => model,
    },
    {
      id: 'vendor',
      name: t('account.vendor'),
      place: 'note',
      cell: ({ vendor }) => vendor,
      value: ({ vendor }) => vendor,
    },
    ...named.map((word) => priceColumn(word, factor)),
    ...(isPlain ? [] : [furtherColumn(factor)]),
  ]
}

function furtherColumn(factor: string): ListColumn<ModelPrice> {
  return {
    id: 'further',
    name: t('account.further'),
    cell: ({ price }) => {
      const texts = furtherPrices(price, factor)
      if (texts.length === 0) return <Missing why={t('account.noFurther')} />
      return texts.map((text) => (
        <div key={text} className="soft small">
          {text}
        </div>
      ))
    },
    value: ({ price }) => furtherPrices(price, factor).join('; '),
  }
}

function priceColumn(word: string, factor: string): ListColumn<ModelPrice> {
  return {
    id: word,
    name: word === 'request' ? t('account.eachRequest') : className(word),
    isNumber: true,
    ...(word === 'input' && { place: 'amount' }),
    cell: ({ price }) => {
      const list = priceIn(price, word)
      if (list === undefined) return <Missing why={t('account.notOffered')} />
      const paid = scaleUsd(list, factor)
      const tip = t('account.listPrice', { price: formatUsdExact(list), factor })
      return (
        <data value={paid} data-tip={factor === '1' ? undefined : tip}>
          {formatUsdExact(paid)}
        </data>
      )
    },
    value: ({ price }) => {
      const list = priceIn(price, word)
      return list === undefined ? null : scaleUsd(list, factor)
    },
  }
}

/** As the gateway prints them. */
type Price = Readonly<Record<string, unknown>>

/** Undefined where the model has no price of this class. */
export function priceIn(price: Price, word: string): string | undefined {
  const value = price[word]
  if (typeof value === 'number') return usdText(value)
  return typeof value === 'string' ? value : undefined
}

/** Prices that fit no column, in words. */
function furtherPrices(price: Price, factor: string): readonly string[] {
  const long = tableIn(price['long_context'])
  const above = priceIn(long, 'above')
  const groups = [
    ['tiers', 'tier'],
    ['speeds', 'speed'],
    ['geos', 'region'],
  ] as const
  return [
    ...(above === undefined
      ? []
      : [
          t('account.above', {
            count: formatInteger(Number(above)),
            prices: classTexts(long, factor),
          }),
        ]),
    ...groups.flatMap(([group, title]) =>
      Object.entries(tableIn(price[group])).map(([name, change]) => {
        const changed = tableIn(change)
        const multiplier = priceIn(changed, 'multiplier')
        const prices = multiplier === undefined ? classTexts(changed, factor) : `× ${multiplier}`
        return t(`account.groups.${title}`, { name, prices })
      }),
    ),
  ]
}

function classTexts(price: Price, factor: string): string {
  return inPriceOrder(Object.keys(price))
    .flatMap((word) => {
      const value = word === 'above' ? undefined : priceIn(price, word)
      return value === undefined
        ? []
        : [`${className(word)} ${formatUsdExact(scaleUsd(value, factor))}`]
    })
    .join(', ')
}

function tableIn(value: unknown): Price {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {}
}

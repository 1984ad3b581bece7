/** The prices in force as this account pays them: list price times the account's factor, exact. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Card, Notice } from '../ui/card.tsx'
import { TextField } from '../ui/field.tsx'
import { formatUsdExact } from '../ui/format.ts'
import { Empty, Failure, Loading } from '../ui/states.tsx'
import { ExportButton, Table, type Column } from '../ui/table.tsx'
import { Missing } from '../ui/values.tsx'
import type { ModelPrice } from './forms.ts'
import { furtherPrices, priceIn } from './price-words.ts'
import { pricesQuery } from './queries.ts'
import { scaleUsd } from './usd.ts'
import { className, inPriceOrder } from './words.ts'

export function Prices() {
  const { data, error, refetch } = useQuery(pricesQuery)
  const [part, setPart] = useState('')
  if (data === undefined)
    return error === null ? (
      <Loading rows={8} />
    ) : (
      <Failure error={error} onRetry={() => void refetch()} />
    )
  const { multiplier, prices } = data
  const wanted = part.trim().toLowerCase()
  const rows = prices.filter(({ model }) => model.toLowerCase().includes(wanted))
  const columns = columnsOf(prices, multiplier)
  return (
    <>
      {multiplier !== '1' && (
        <Notice tone="accent">
          You pay {multiplier} × the list prices; the table has that included.
        </Notice>
      )}
      <div className="filters">
        <TextField label="Model" type="search" value={part} onChange={setPart} />
      </div>
      <Card
        title="Prices"
        hint="USD per million tokens, as you pay them today"
        isFlush
        actions={<ExportButton fileName="prices" columns={columns} readRows={() => rows} />}
      >
        {rows.length === 0 ? (
          <Empty title="No model has this name." />
        ) : (
          <Table caption="Prices" columns={columns} rows={rows} rowKey={({ model }) => model} />
        )}
      </Card>
    </>
  )
}

function columnsOf(prices: readonly ModelPrice[], factor: string): readonly Column<ModelPrice>[] {
  const classes = new Set(prices.flatMap(({ price }) => Object.keys(price)))
  const named = inPriceOrder(classes).filter((word) =>
    prices.some(({ price }) => priceIn(price, word) !== undefined),
  )
  return [
    { name: 'Model', cell: ({ model }) => <strong>{model}</strong>, csv: ({ model }) => model },
    { name: 'Vendor', cell: ({ vendor }) => vendor, csv: ({ vendor }) => vendor },
    ...named.map((word) => priceColumn(word, factor)),
    ...(prices.every(({ price }) => furtherPrices(price, factor).length === 0)
      ? []
      : [furtherColumn(factor)]),
  ]
}

function furtherColumn(factor: string): Column<ModelPrice> {
  return {
    name: 'Further',
    cell: ({ price }) => {
      const texts = furtherPrices(price, factor)
      if (texts.length === 0) return <Missing why="No further prices" />
      return texts.map((text) => (
        <div key={text} className="soft">
          {text}
        </div>
      ))
    },
    csv: ({ price }) => furtherPrices(price, factor).join('; '),
  }
}

function priceColumn(word: string, factor: string): Column<ModelPrice> {
  return {
    name: word === 'request' ? 'Each request' : className(word),
    isNumber: true,
    cell: ({ price }) => {
      const list = priceIn(price, word)
      if (list === undefined) return <Missing why="Not offered" />
      const paid = scaleUsd(list, factor)
      return (
        <data
          value={paid}
          data-tip={factor === '1' ? undefined : `List price ${formatUsdExact(list)} × ${factor}`}
        >
          {formatUsdExact(paid)}
        </data>
      )
    },
    csv: ({ price }) => {
      const list = priceIn(price, word)
      return list === undefined ? null : scaleUsd(list, factor)
    },
  }
}

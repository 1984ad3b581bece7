/** Receipts and credit notes: the list, one of them to print, and what prints say of both sides. */
import { useQuery } from '@tanstack/react-query'
import { Printer } from 'lucide-react'
import { t } from '../messages/t.ts'
import { Button } from '../ui/button.tsx'
import { Card, Facts } from '../ui/card.tsx'
import { Columns, Stack } from '../ui/layout.tsx'
import { defineList } from '../ui/list/define.ts'
import { List } from '../ui/list/list.tsx'
import { Empty, Shown } from '../ui/states.tsx'
import { Time, Usd } from '../ui/values.tsx'
import { useAddress, ViewLink } from './address.tsx'
import type { Receipt } from './answers.ts'
import { operatorQuery, receiptQuery, useReceipts } from './read.ts'

const receiptList = defineList<Receipt>({
  name: 'account-page-receipts',
  caption: t('account.tabs.receipts'),
  rowKey: ({ number }) => number,
  columns: [
    {
      id: 'number',
      name: t('account.receipt'),
      place: 'name',
      cell: ({ number: receipt }) => (
        <ViewLink to={{ view: 'receipts', receipt }}>{receipt}</ViewLink>
      ),
    },
    { id: 'time', name: t('account.time'), place: 'note', cell: ({ at }) => <Time at={at} /> },
    { id: 'reference', name: t('account.reference'), cell: ({ reference }) => reference },
    {
      id: 'amount',
      name: t('figures.amount'),
      isNumber: true,
      cell: ({ amount }) => <Usd value={amount} places={2} />,
    },
  ],
  empty: <Empty title={t('account.noReceipt')} />,
})

export function Receipts() {
  const { receipt: number } = useAddress()
  const list = useReceipts()
  const one = useQuery({ ...receiptQuery(number), enabled: number !== undefined })
  const none = <Empty title={t('account.noReceipt')} />
  if (number !== undefined)
    return <Shown query={one}>{(found) => (found === null ? none : <Paper of={found} />)}</Shown>
  const hint = t('account.receiptsHint')
  return <List of={receiptList} title={t('account.tabs.receipts')} hint={hint} list={list} />
}

function Paper({ of: { number, reverses, at, tax_percent, account, ...paper } }: { of: Receipt }) {
  const taxLine = useTaxLine(tax_percent)
  const isNote = paper.amount.startsWith('-')
  const usd = (value: string) => <Usd key={value} value={value} places={2} />
  return (
    <Card
      title={`${t(isNote ? 'account.creditNote' : 'account.receipt')} ${number}`}
      hint={t('account.receiptOf', { day: at.slice(0, 10) })}
      actions={<PrintButton />}
    >
      <Stack>
        <Parties account={account} />
        <Facts
          items={[
            ...(reverses === null ? [] : [[t('account.takesBack'), reverses] as const]),
            [t('account.reference'), paper.reference],
            ...(taxLine === undefined ? [] : [[t('account.net'), usd(paper.net)] as const]),
            ...(taxLine === undefined ? [] : [[taxLine, usd(paper.tax)] as const]),
            [t(isNote ? 'figures.amount' : 'account.paidInAll'), usd(paper.amount)],
          ]}
        />
      </Stack>
    </Card>
  )
}

/** The operator, and whose account it is. */
export function Parties({ account }: { account: Receipt['account'] | undefined }) {
  const { data: operator } = useQuery(operatorQuery)
  const parties = [
    [t('account.by'), [operator?.name ?? location.host, operator?.address]],
    [t('account.for'), [account?.name, account?.bill_to]],
  ] as const
  return (
    <Columns>
      {parties.map(([title, lines]) => (
        <div key={title}>
          <div className="soft small">{title}</div>
          <div className="break lines">{lines.filter(Boolean).join('\n')}</div>
        </div>
      ))}
    </Columns>
  )
}

/** Names the tax that credits include, by default that of now; undefined where there is none. */
export function useTaxLine(percent?: number): string | undefined {
  const tax = useQuery(operatorQuery).data?.tax
  const rate = percent ?? tax?.percent ?? 0
  if (rate === 0) return undefined
  return [t('account.taxLine', { percent: String(rate) }), tax?.note ?? []].flat().join(', ')
}

export function PrintButton() {
  return (
    <Button onClick={() => print()}>
      <Printer aria-hidden /> {t('account.print')}
    </Button>
  )
}

/** The statement of a period: a look at it, and all of it as a file, exactly as the gateway writes it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { StatementFigures, statementList } from '../figures/statement.tsx'
import { t } from '../messages/t.ts'
import { Card } from '../ui/card.tsx'
import { List } from '../ui/list/list.tsx'
import type { Period } from '../ui/range.ts'
import { useDays } from '../ui/range.tsx'
import { Shown } from '../ui/states.tsx'
import { goTo, useAddress, ViewLink } from './address.tsx'
import { Proofs } from './proofs.tsx'
import { Parties, PrintButton, useTaxLine } from './receipts.tsx'
import { statementQuery, useAccount } from './read.ts'
import { plainName, Save, type SavedFile } from './save.tsx'

const entryList = statementList({
  name: 'account-page-statement',
  caption: t('account.tabs.statement'),
  requestLink: (request, text = request) => (
    <ViewLink to={{ view: 'requests', request }}>{text}</ViewLink>
  ),
})

export function Statement() {
  const address = useAddress()
  const { period, picker } = useDays({
    value: address,
    usual: 'thisMonth',
    quick: ['thisMonth', 'lastMonth'],
    onChange: (range) => goTo({ ...address, ...range }, { replaces: true }),
  })
  const query = useQuery({ ...statementQuery(period), placeholderData: keepPreviousData })
  const { data: account } = useAccount()
  const taxLine = useTaxLine()
  return (
    <>
      {picker}
      <Card title={t('account.statementOf', period)} actions={<PrintButton />}>
        <Parties account={account} />
        {taxLine !== undefined && <p>{t('account.creditsInclude', { tax: taxLine })}</p>}
      </Card>
      <Shown query={query}>
        {({ figures, entries }) => (
          <>
            <StatementFigures
              of={{
                ...figures,
                from: `${period.from}T00:00:00Z`,
                opening: figures.opening_balance,
                closing: figures.closing_balance,
              }}
            />
            <List
              of={entryList}
              title={t('account.tabs.statement')}
              hint={t('account.lastLines')}
              list={{ rows: entries }}
              actions={<Save files={filesOf(period, account?.name)} />}
            />
            <Proofs />
          </>
        )}
      </Shown>
    </>
  )
}

function filesOf(period: Period, account = ''): readonly SavedFile[] {
  return (['csv', 'json'] as const).map((format) => ({
    label: format.toUpperCase(),
    name: `statement-${plainName(account)}-${period.from}-${period.to}.${format}`,
    path: '/statement',
    query: { ...period, format },
  }))
}

/** The signed heads of the account's books, for holders who keep them: a later edit of sealed lines shows. */
import { t } from '../messages/t.ts'
import { defineList } from '../ui/list/define.ts'
import { List } from '../ui/list/list.tsx'
import { Empty } from '../ui/states.tsx'
import { Count, Time, Usd } from '../ui/values.tsx'
import type { SignedHead } from './answers.ts'
import { useAccount, useProofs } from './read.ts'
import { plainName, Save } from './save.tsx'

const hashShown = 12
/** The most that one answer has: six weeks of hours. */
const headsSaved = 1_000

const headList = defineList<SignedHead>({
  name: 'account-page-proofs',
  caption: t('account.proofs'),
  rowKey: ({ count }) => String(count),
  columns: [
    {
      id: 'hour',
      name: t('account.sealedUntil'),
      place: 'name',
      cell: ({ hour }) => <Time at={hour} />,
    },
    {
      id: 'lines',
      name: t('account.lines'),
      isNumber: true,
      cell: ({ count }) => <Count value={count} />,
    },
    {
      id: 'sum',
      name: t('account.sum'),
      isNumber: true,
      place: 'amount',
      cell: ({ sum }) => <Usd value={sum} />,
    },
    {
      id: 'hash',
      name: t('account.hash'),
      place: 'note',
      cell: ({ hash }) => <code data-tip={hash}>{hash.slice(0, hashShown)}</code>,
    },
    { id: 'key', name: t('account.signedBy'), cell: ({ key }) => <code>{key}</code> },
  ],
  empty: <Empty title={t('account.noProof')}>{t('account.noProofHint')}</Empty>,
})

export function Proofs() {
  const { data: account } = useAccount()
  const file = {
    label: t('account.saveProofs'),
    name: `proofs-${plainName(account?.name ?? '')}.json`,
    path: '/proofs',
    query: { limit: headsSaved },
  }
  return (
    <List
      of={headList}
      title={t('account.proofs')}
      hint={t('account.proofsHint')}
      list={useProofs()}
      actions={<Save files={[file]} />}
    />
  )
}

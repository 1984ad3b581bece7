/** Audits of the books, and the log of what operators have done. */
import { useSearch } from '@tanstack/react-router'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Actions } from './actions.tsx'
import { Books } from './books.tsx'

export function Audit() {
  const { tab = 'books' } = useSearch({ from: '/shell/audit' })
  return (
    <Page
      title="Audit"
      hint="The books recomputed from every entry, and the log of all changes by operators."
    >
      <Tabs
        label="Audit"
        current={tab}
        tabs={[
          ['books', 'Books'],
          ['actions', 'Actions'],
        ]}
      />
      {tab === 'books' ? <Books /> : <Actions />}
    </Page>
  )
}

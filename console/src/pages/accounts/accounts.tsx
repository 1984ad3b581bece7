/** Accounts. */
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'

export function Accounts() {
  return (
    <Page title="Accounts">
      <Empty title="This page is being built." />
    </Page>
  )
}

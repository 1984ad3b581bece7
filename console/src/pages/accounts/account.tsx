/** Account. */
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'

export function AccountPage() {
  return (
    <Page title="Account">
      <Empty title="This page is being built." />
    </Page>
  )
}

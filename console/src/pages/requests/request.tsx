/** Request. */
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'

export function RequestPage() {
  return (
    <Page title="Request">
      <Empty title="This page is being built." />
    </Page>
  )
}

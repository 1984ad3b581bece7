/** Models and prices. */
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'

export function Models() {
  return (
    <Page title="Models and prices">
      <Empty title="This page is being built." />
    </Page>
  )
}

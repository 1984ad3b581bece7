/** Reports. */
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'

export function Reports() {
  return (
    <Page title="Reports">
      <Empty title="This page is being built." />
    </Page>
  )
}

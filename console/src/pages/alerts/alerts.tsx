/** Alerts. */
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'

export function Alerts() {
  return (
    <Page title="Alerts">
      <Empty title="This page is being built." />
    </Page>
  )
}

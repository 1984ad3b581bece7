/** Reconciliation. */
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'

export function Reconciliation() {
  return (
    <Page title="Reconciliation">
      <Empty title="This page is being built." />
    </Page>
  )
}

/** Audit. */
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'

export function Audit() {
  return (
    <Page title="Audit">
      <Empty title="This page is being built." />
    </Page>
  )
}

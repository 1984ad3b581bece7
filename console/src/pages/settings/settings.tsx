/** Settings. */
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'

export function Settings() {
  return (
    <Page title="Settings">
      <Empty title="This page is being built." />
    </Page>
  )
}

/** Requests. */
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'

export function Requests() {
  return (
    <Page title="Requests">
      <Empty title="This page is being built." />
    </Page>
  )
}

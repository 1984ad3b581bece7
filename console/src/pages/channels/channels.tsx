/** Channels. */
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'

export function Channels() {
  return (
    <Page title="Channels">
      <Empty title="This page is being built." />
    </Page>
  )
}

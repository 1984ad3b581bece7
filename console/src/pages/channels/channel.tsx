/** Channel. */
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'

export function ChannelPage() {
  return (
    <Page title="Channel">
      <Empty title="This page is being built." />
    </Page>
  )
}

/** Alerts: those that fire now, the targets that get them, and the log of deliveries. */
import { useSearch } from '@tanstack/react-router'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Deliveries } from './deliveries.tsx'
import { Firing } from './firing.tsx'
import { Targets } from './targets.tsx'

export function Alerts() {
  const { tab = 'firing' } = useSearch({ from: '/shell/alerts' })
  return (
    <Page title="Alerts" hint="Conditions that need you, and who gets a message about them.">
      <Tabs
        label="Alerts"
        current={tab}
        tabs={[
          ['firing', 'Firing now'],
          ['targets', 'Targets'],
          ['deliveries', 'Deliveries'],
        ]}
      />
      {tab === 'firing' && <Firing />}
      {tab === 'targets' && <Targets />}
      {tab === 'deliveries' && <Deliveries />}
    </Page>
  )
}

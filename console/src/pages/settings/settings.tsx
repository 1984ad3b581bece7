/** How this installation is set up: settings, gateways, backups, who may sign in, and its check. */
import { useSearch } from '@tanstack/react-router'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Access } from './access.tsx'
import { Backups } from './backups.tsx'
import { Doctor } from './doctor.tsx'
import { Gateways } from './gateways.tsx'
import { InForce } from './in-force.tsx'

export function Settings() {
  const { tab = 'in-force' } = useSearch({ from: '/shell/settings' })
  return (
    <Page
      title="Settings"
      hint="Settings are changed in the configuration file or the environment."
    >
      <Tabs
        label="Settings"
        current={tab}
        tabs={[
          ['in-force', 'In force'],
          ['gateways', 'Gateways and versions'],
          ['backups', 'Backups'],
          ['access', 'Tokens and sessions'],
          ['doctor', 'Doctor'],
        ]}
      />
      {tab === 'in-force' && <InForce />}
      {tab === 'gateways' && <Gateways />}
      {tab === 'backups' && <Backups />}
      {tab === 'access' && <Access />}
      {tab === 'doctor' && <Doctor />}
    </Page>
  )
}

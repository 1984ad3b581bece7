/** The settings of a channel as the catalogue has them. No secret is among them. */
import { Link } from '@tanstack/react-router'
import { Card, Facts } from '../../ui/card.tsx'
import { formatInteger } from '../../ui/format.ts'
import type { ChannelDetail } from './queries.ts'

const checks: Readonly<Record<ChannelDetail['check'], string>> = {
  request: 'A small request for each model',
  models: "The vendor's list of models",
  none: 'None: only traffic shows whether it works',
}

export function ChannelSettings({ detail }: { detail: ChannelDetail }) {
  const { name, vendor, url, credential, rank, weight, check } = detail
  const { max_concurrent: limit, output_limit: fields } = detail
  return (
    <Card
      title="Settings"
      hint="From the catalogue"
      actions={
        <Link to="/models" search={{ tab: 'catalogue' }}>
          Open the catalogue
        </Link>
      }
    >
      <Facts
        items={[
          ['Name', name],
          ['Vendor', vendor],
          ['Address', <code key="address">{url + detail.path}</code>],
          ['Proxy', detail.proxy ?? 'None'],
          ['Sent with each request', sentAlong(detail)],
          ['Credential', <CredentialShape key="credential" credential={credential} />],
          ['Rank', `${rank}, ${rank === 0 ? 'main route' : 'reserve'}`],
          ['Weight', String(weight)],
          ['Concurrent requests', limit === null ? 'No limit' : `At most ${formatInteger(limit)}`],
          ['Output limits', outputLimits(fields)],
          ['Checks', checks[check]],
        ]}
      />
    </Card>
  )
}

function sentAlong({ query, headers }: ChannelDetail): string {
  const names = [...Object.keys(query).map((name) => `?${name}`), ...Object.keys(headers)]
  return names.length === 0 ? 'Nothing of its own' : names.join(', ')
}

function outputLimits(fields: ChannelDetail['output_limit']): string {
  if (fields === null) return 'Those of the format'
  return fields.length === 0 ? 'None' : fields.join(', ')
}

/** Where the credential comes from; the API never gives the credential itself. */
function CredentialShape({ credential }: { credential: string }) {
  if (credential === 'sealed') return <>Encrypted in the store</>
  const [kind, place] = [
    credential.slice(0, credential.indexOf(':')),
    credential.slice(credential.indexOf(':') + 1),
  ]
  return (
    <>
      {kind === 'env' ? 'Environment variable ' : 'File '}
      <code>{place}</code>
    </>
  )
}

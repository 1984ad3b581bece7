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
  const { name, vendor, url, path, credential, query, headers, rank, check } = detail
  return (
    <Card
      title="Settings"
      hint="From the catalogue"
      actions={
        <Link to="/models" search={{ tab: 'catalogue', section: 'channels', entry: name }}>
          Open the catalogue
        </Link>
      }
    >
      <Facts
        items={[
          ['Name', name],
          ['Vendor', vendor],
          ['Address', <code key="address">{url + path}</code>],
          ['Sent with each request', sentAlong(query, headers)],
          ['Credential', <CredentialShape key="credential" credential={credential} />],
          ['Rank', `${rank}, ${rank === 0 ? 'main route' : 'reserve'}`],
          ['Checks', checks[check]],
          ...otherSettings(detail),
        ]}
      />
    </Card>
  )
}

/** What the answer has besides the other fields of the catalogue, and those that are shown in words. */
const shownApart: ReadonlySet<string> = new Set<keyof ChannelDetail>([
  'name',
  'vendor',
  'url',
  'path',
  'credential',
  'query',
  'headers',
  'models',
  'rank',
  'check',
  'enabled',
  'health',
  'traffic',
  'at',
  'is_live',
  'nodes',
  'check_cost',
  'history',
])

/** Every other field of the catalogue, under its name there. */
function otherSettings(detail: ChannelDetail): readonly (readonly [string, string])[] {
  return Object.entries(detail)
    .filter(([key]) => !shownApart.has(key))
    .map(([key, value]) => [wordsOf(key), valueText(value)])
}

function wordsOf(key: string): string {
  return key.charAt(0).toUpperCase() + key.slice(1).replaceAll('_', ' ')
}

function valueText(value: unknown): string {
  if (value === null) return 'Not set'
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'number') return formatInteger(value)
  if (Array.isArray(value)) return value.length === 0 ? 'None' : value.join(', ')
  return typeof value === 'string' && value !== '' ? value : 'Empty'
}

function sentAlong(query: ChannelDetail['query'], headers: ChannelDetail['headers']): string {
  const names = [...Object.keys(query).map((name) => `?${name}`), ...Object.keys(headers)]
  return names.length === 0 ? 'Nothing more' : names.join(', ')
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

/** The settings of a channel as the catalogue has them. No secret is among them. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { KeyRound, Pencil } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Facts } from '../../ui/card.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { formatInteger } from '../../ui/format.ts'
import { Row, Stack } from '../../ui/layout.tsx'
import { announce } from '../../ui/toast.tsx'
import { Age, Time } from '../../ui/values.tsx'
import { EntryButton } from '../entries/entry-dialog.tsx'
import { titleOf } from '../entries/entry.ts'
import { restoreCredential } from '../entries/requests.ts'
import { fieldsQuery } from '../models/queries.ts'
import { useChannelRefresh, type ChannelDetail } from './queries.ts'

export function ChannelSettings({ detail }: { detail: ChannelDetail }) {
  const { name, vendor, url, path, query, headers, rank, check } = detail
  const { data: fields } = useQuery(fieldsQuery)
  const values = new Map<string, unknown>(Object.entries(detail))
  return (
    <Card
      title={t('channels.settings')}
      hint={t('channels.fromCatalogue')}
      actions={
        <>
          <Link to="/models" search={{ tab: 'catalogue', section: 'channels', entry: name }}>
            {t('channels.openCatalogue')}
          </Link>
          <EntryButton asked={{ kind: 'edit', section: 'channels', name }}>
            <Pencil aria-hidden /> {t('channels.edit')}
          </EntryButton>
        </>
      }
    >
      <Facts
        items={[
          [t('channels.name'), name],
          [t('channels.vendor'), vendor],
          [t('channels.address'), <code key="address">{url + path}</code>],
          [t('channels.sentAlong'), sentAlong(query, headers)],
          [t('channels.credential'), <CredentialFact key="credential" detail={detail} />],
          [
            t('channels.rank'),
            t(rank === 0 ? 'channels.mainRoute' : 'channels.reserveRoute', { rank }),
          ],
          [t('channels.checks'), t(`channels.checkKinds.${check}`)],
          ...(fields?.channels ?? [])
            .filter(({ key }) => values.has(key) && !shownInWords.has(key))
            .map((field) => [titleOf(field), valueText(values.get(field.key))] as const),
        ]}
      />
    </Card>
  )
}

/** The other fields of an entry are shown under their names in the catalogue. */
const shownInWords: ReadonlySet<string> = new Set<keyof ChannelDetail>([
  'name',
  'vendor',
  'url',
  'path',
  'query',
  'headers',
  'credential',
  'models',
  'rank',
  'check',
])

function valueText(value: unknown): string {
  if (value === null) return t('channels.values.unset')
  if (typeof value === 'boolean') return t(value ? 'channels.values.yes' : 'channels.values.no')
  if (typeof value === 'number') return formatInteger(value)
  if (Array.isArray(value)) return value.join(', ') || t('channels.values.none')
  return typeof value === 'string' && value !== '' ? value : t('channels.values.empty')
}

function sentAlong(query: ChannelDetail['query'], headers: ChannelDetail['headers']): string {
  const names = [...Object.keys(query).map((name) => `?${name}`), ...Object.keys(headers)]
  return names.length === 0 ? t('channels.values.nothing') : names.join(', ')
}

/** Where the credential comes from, how old it is, and what can be done with it. */
function CredentialFact({ detail }: { detail: ChannelDetail }) {
  const { name, credential, credential_set_at: setAt, former_credential: former } = detail
  return (
    <Stack isTight>
      <span>
        <CredentialShape credential={credential} />, {t('channels.set')} <Age at={setAt} />
      </span>
      <Row as="span">
        <EntryButton asked={{ kind: 'credential', channel: name }}>
          <KeyRound aria-hidden /> {t('channels.replaceCredential')}
        </EntryButton>
        {former !== null && <RestoreButton channel={name} until={former.until} />}
      </Row>
    </Stack>
  )
}

/** Takes back the credential that the present one has replaced; the present one is then gone. */
function RestoreButton({ channel, until }: { channel: string; until: string }) {
  const mayChange = useMay('owner')
  const refresh = useChannelRefresh()
  const [isOpen, setIsOpen] = useState(false)
  const restoring = useMutation({
    mutationFn: () => restoreCredential(channel),
    onSuccess() {
      setIsOpen(false)
      announce(t('channels.restored', { name: channel }))
      return refresh()
    },
  })
  if (!mayChange) return null
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{t('channels.restoreFormer')}</Button>
      <Confirm
        title={t('channels.restoreTitle', { name: channel })}
        action={t('channels.restore')}
        isOpen={isOpen}
        isBusy={restoring.isPending}
        error={restoring.error}
        onConfirm={() => restoring.mutate()}
        onClose={() => setIsOpen(false)}
      >
        {t.rich('channels.restoreText', { until: () => <Time at={until} /> })}
      </Confirm>
    </>
  )
}

/** Where the credential comes from; the API never gives the credential itself. */
function CredentialShape({ credential }: { credential: string }) {
  if (credential === 'sealed') return t('channels.encrypted')
  const [kind, ...place] = credential.split(':')
  return (
    <>
      {t(kind === 'env' ? 'channels.variable' : 'channels.file')} <code>{place.join(':')}</code>
    </>
  )
}

/** The settings of a channel as the catalogue has them. No secret is among them. */
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { KeyRound, Pencil } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Facts } from '../../ui/card.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { formatInteger } from '../../ui/format.ts'
import { Stack } from '../../ui/layout.tsx'
import { announce } from '../../ui/toast.tsx'
import { Age, Time } from '../../ui/values.tsx'
import { EntryDialog, type AskedForm } from '../entries/entry-dialog.tsx'
import { titleOf } from '../entries/entry.ts'
import { restoreCredential } from '../entries/requests.ts'
import { useChannelRefresh, type ChannelDetail } from './queries.ts'

export function ChannelSettings({ detail }: { detail: ChannelDetail }) {
  const { name, vendor, url, path, query, headers, rank, check } = detail
  const mayChange = useMay('owner')
  const [asked, setAsked] = useState<AskedForm>()
  return (
    <Card
      title={t('channels.settings')}
      hint={t('channels.fromCatalogue')}
      actions={
        <>
          <Link to="/models" search={{ tab: 'catalogue', section: 'channels', entry: name }}>
            {t('channels.openCatalogue')}
          </Link>
          {mayChange && (
            <Button onClick={() => setAsked({ kind: 'edit', section: 'channels', name })}>
              <Pencil aria-hidden /> {t('channels.edit')}
            </Button>
          )}
        </>
      }
    >
      <Facts
        items={[
          [t('channels.name'), name],
          [t('channels.vendor'), vendor],
          [t('channels.address'), <code key="address">{url + path}</code>],
          [t('channels.sentAlong'), sentAlong(query, headers)],
          [
            t('channels.credential'),
            <CredentialFact key="credential" detail={detail} onAsk={setAsked} />,
          ],
          [
            t('channels.rank'),
            t(rank === 0 ? 'channels.mainRoute' : 'channels.reserveRoute', { rank }),
          ],
          [t('channels.checks'), t(`channels.checkKinds.${check}`)],
          ...otherSettings(detail),
        ]}
      />
      {asked !== undefined && <EntryDialog asked={asked} onClose={() => setAsked(undefined)} />}
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
  'credential_set_at',
  'former_credential',
  'entry',
  'revision',
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
    .map(([key, value]) => [titleOf({ key }), valueText(value)])
}

function valueText(value: unknown): string {
  if (value === null) return t('channels.values.unset')
  if (typeof value === 'boolean') return t(value ? 'channels.values.yes' : 'channels.values.no')
  if (typeof value === 'number') return formatInteger(value)
  if (Array.isArray(value)) return value.length === 0 ? t('channels.values.none') : value.join(', ')
  return typeof value === 'string' && value !== '' ? value : t('channels.values.empty')
}

function sentAlong(query: ChannelDetail['query'], headers: ChannelDetail['headers']): string {
  const names = [...Object.keys(query).map((name) => `?${name}`), ...Object.keys(headers)]
  return names.length === 0 ? t('channels.values.nothing') : names.join(', ')
}

interface CredentialFactProps {
  readonly detail: ChannelDetail
  readonly onAsk: (asked: AskedForm) => void
}

/** Where the credential comes from, how old it is, and what can be done with it. */
function CredentialFact({ detail, onAsk }: CredentialFactProps) {
  const mayChange = useMay('owner')
  const { name, credential, credential_set_at: setAt, former_credential: former } = detail
  return (
    <Stack isTight>
      <span>
        <CredentialShape credential={credential} />, {t('channels.set')} <Age at={setAt} />
      </span>
      {mayChange && (
        <span className="row">
          <Button onClick={() => onAsk({ kind: 'credential', channel: name })}>
            <KeyRound aria-hidden /> {t('channels.replaceCredential')}
          </Button>
          {former !== null && <RestoreButton channel={name} former={former} />}
        </span>
      )}
    </Stack>
  )
}

interface RestoreProps {
  readonly channel: string
  readonly former: NonNullable<ChannelDetail['former_credential']>
}

/** Takes back the credential that the present one has replaced; the present one is then gone. */
function RestoreButton({ channel, former }: RestoreProps) {
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
        {t.rich('channels.restoreText', { until: () => <Time at={former.until} /> })}
      </Confirm>
    </>
  )
}

/** Where the credential comes from; the API never gives the credential itself. */
function CredentialShape({ credential }: { credential: string }) {
  if (credential === 'sealed') return <>{t('channels.encrypted')}</>
  const [kind, place] = [
    credential.slice(0, credential.indexOf(':')),
    credential.slice(credential.indexOf(':') + 1),
  ]
  return (
    <>
      {t(kind === 'env' ? 'channels.variable' : 'channels.file')} <code>{place}</code>
    </>
  )
}

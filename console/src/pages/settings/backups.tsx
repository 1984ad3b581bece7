/** Backups that were taken, and a new one as a download. */
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Badge, Notice } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatInteger } from '../../ui/format.ts'
import { defineList } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/values.tsx'
import { Actor } from '../audit/action-list.tsx'
import { settingsQuery } from './in-force.tsx'

function readBackups(cursor: { cursor?: string }) {
  return bodyOf(api.GET('/admin/v1/backups', { params: { query: { limit: 50, ...cursor } } }))
}

type Backup = Awaited<ReturnType<typeof readBackups>>['items'][number]

const backupList = defineList<Backup>({
  name: 'backups',
  caption: t('settings.backupsCaption'),
  rowKey: ({ at }) => at,
  rowTone: ({ audit }) => (audit === 'failed' ? 'bad' : undefined),
  columns: [
    { id: 'taken', name: t('settings.taken'), cell: ({ at }) => <Time at={at} /> },
    {
      id: 'by',
      name: t('settings.by'),
      place: 'note',
      cell: ({ actor, actor_name: name }) => <Actor id={actor} name={name} />,
    },
    {
      id: 'file',
      name: t('settings.file'),
      cell: ({ file }) => file ?? <span className="soft">{t('settings.downloaded')}</span>,
    },
    {
      id: 'size',
      name: t('settings.size'),
      isNumber: true,
      cell: ({ bytes }) => (
        <span data-tip={t('settings.bytes', { bytes: formatInteger(bytes) })}>
          {(bytes / 1_000_000).toFixed(1)} MB
        </span>
      ),
    },
    {
      id: 'audit',
      name: t('settings.audit'),
      place: 'state',
      cell: ({ audit }) => (
        <Badge tone={audit === 'passed' ? 'good' : 'bad'}>{t(`settings.audits.${audit}`)}</Badge>
      ),
    },
    {
      id: 'sha256',
      name: 'SHA-256',
      cell: ({ sha256 }) => <code data-tip={sha256}>{sha256.slice(0, 12)}…</code>,
    },
  ],
  empty: <NoBackup />,
})

/** Undefined until the settings are read. */
function useIsPostgres(): boolean | undefined {
  const { data } = useQuery(settingsQuery)
  const store = data?.find(({ name }) => name === 'store')
  return data && store?.value?.startsWith('postgres') === true
}

function NoBackup() {
  const isPostgres = useIsPostgres()
  return (
    <Empty title={t('settings.noBackup')}>
      {isPostgres === true && t('settings.ownTools')}
      {isPostgres === false &&
        t.rich('settings.backUpDaily', { code: () => <code>turnpike backup</code> })}
    </Empty>
  )
}

export function Backups() {
  const isOwner = useMay('owner')
  const isPostgres = useIsPostgres()
  const [isAsking, setIsAsking] = useState(false)
  const close = (): void => setIsAsking(false)
  return (
    <>
      <List
        of={backupList}
        list={useList(['settings', 'backups'], readBackups)}
        title={t('settings.backups')}
        hint={t('settings.backupsHint')}
        actions={
          isOwner &&
          isPostgres === false && (
            <Button look="primary" onClick={() => setIsAsking(true)}>
              <Download aria-hidden /> {t('settings.downloadBackup')}
            </Button>
          )
        }
      />
      <Dialog title={t('settings.downloadBackup')} isOpen={isAsking} onClose={close}>
        <Notice tone="warn">{t('settings.holdsAll')}</Notice>
        <p>{t('settings.copiesFirst')}</p>
        <footer className="dialog-foot">
          <Button onClick={close}>{t('settings.cancel')}</Button>
          <a className={buttonClass('primary')} href="/admin/v1/backup" download onClick={close}>
            <Download aria-hidden /> {t('settings.download')}
          </a>
        </footer>
      </Dialog>
    </>
  )
}

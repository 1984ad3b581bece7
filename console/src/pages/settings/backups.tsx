/** Backups that were taken, and a new one as a download. */
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Badge, Card, Notice } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatInteger } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/values.tsx'
import { settingsQuery, type Setting } from './queries.ts'

function readBackups(cursor: { cursor?: string }) {
  return bodyOf(api.GET('/admin/v1/backups', { params: { query: { limit: 50, ...cursor } } }))
}

type Backup = Awaited<ReturnType<typeof readBackups>>['items'][number]

export function Backups() {
  const list = useList(['settings', 'backups'], readBackups)
  const isOwner = useMay('owner')
  const { data } = useQuery(settingsQuery)
  const dialect = data === undefined ? undefined : dialectOf(data.settings)
  const [isAsking, setIsAsking] = useState(false)
  return (
    <Card
      title="Backups"
      hint="Each is a copy of the whole store (SQLite), made and audited while the gateway runs."
      isFlush
      actions={
        isOwner &&
        dialect === 'sqlite' && (
          <Button look="primary" onClick={() => setIsAsking(true)}>
            <Download aria-hidden /> Download a backup
          </Button>
        )
      }
    >
      <List
        caption="Backups, newest first"
        list={list}
        rowKey={({ at }) => at}
        rowTone={({ audit }) => (audit === 'failed' ? 'bad' : undefined)}
        empty={
          <Empty title="No backup yet.">
            {dialect === 'sqlite' && (
              <>
                <p>
                  Run <code>turnpike backup</code> on the host each day.
                </p>
              </>
            )}
            {dialect === 'postgres' && 'A store on PostgreSQL is backed up with its own tools.'}
          </Empty>
        }
        columns={[
          { name: 'Taken', cell: ({ at }) => <Time at={at} /> },
          {
            name: 'By',
            cell: ({ actor, actor_name: name }) => <span data-tip={actor}>{name ?? actor}</span>,
          },
          {
            name: 'File',
            cell: ({ file }) => file ?? <span className="soft">downloaded</span>,
          },
          {
            name: 'Size',
            isNumber: true,
            cell: ({ bytes }) => (
              <span data-tip={`${formatInteger(bytes)} bytes`}>{megabytes(bytes)}</span>
            ),
          },
          { name: 'Audit', cell: ({ audit }) => <AuditBadge audit={audit} /> },
          {
            name: 'SHA-256',
            cell: ({ sha256 }) => <code data-tip={sha256}>{sha256.slice(0, 12)}…</code>,
          },
        ]}
      />
      {isAsking && <BackupDialog onClose={() => setIsAsking(false)} />}
    </Card>
  )
}

function dialectOf(settings: readonly Setting[]): 'sqlite' | 'postgres' {
  const store = settings.find(({ name }) => name === 'store')
  return store?.value?.startsWith('postgres') === true ? 'postgres' : 'sqlite'
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

function AuditBadge({ audit }: { audit: Backup['audit'] }) {
  return <Badge tone={audit === 'passed' ? 'good' : 'bad'}>{audit}</Badge>
}

function BackupDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Download a backup" isOpen onClose={onClose}>
      <Notice tone="warn">
        The file holds everything in the store: accounts, balances, requests and sealed credentials.
        Keep it as safe as the store.
      </Notice>
      <p>
        The gateway copies and audits the store first; the download begins when that is done. On a
        large store this takes minutes. Later, compare the SHA-256 in this list with the file.
      </p>
      <footer className="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <a className={buttonClass('primary')} href="/admin/v1/backup" download onClick={onClose}>
          <Download aria-hidden /> Download
        </a>
      </footer>
    </Dialog>
  )
}

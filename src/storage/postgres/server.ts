/**
 * Checks the server of each new connection for the ledger's promises: writable, durable commits. Each
 * refusal says what to change. Settings differ by role and database and change with a failover, so
 * every connection is checked, with one statement.
 */
import { GatewayError } from '../../base/errors.ts'
import type { Row } from '../database.ts'

/** Version 15, as `server_version_num` counts. */
const oldestVersion = 150_000
/**
 * What `synchronous_commit` may be: an acknowledged commit is on disk here, and where a
 * standby is named, there.
 */
const durableCommits = ['on', 'remote_apply', 'remote_write']

interface Examined {
  query(sql: string): Promise<Row[]>
}

/** Rejects on an unusable server; returns true behind a pooler. */
export async function examineServer(
  connection: Examined,
  sessionProcessId: number | undefined,
): Promise<boolean> {
  const [row] = await connection.query(examineSql)
  if (row === undefined) throw new Error('the server returned no settings')
  if (row['is_read_only'] !== 'off')
    throw new GatewayError('ledger.unavailable', 'the server is a standby or read-only')
  const reason = findBrokenPromise(row)
  if (reason !== undefined) throw new GatewayError('operations.invalid', reason)
  return Number(row['process_id']) !== sessionProcessId
}

const examineSql = `SELECT current_setting('server_version_num')::int AS version,
  current_setting('server_version') AS version_text,
  current_setting('transaction_read_only') AS is_read_only,
  current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  current_setting('server_encoding') AS encoding,
  pg_backend_pid() AS process_id`

/** Of a server that is no standby: the names of the files of its write-ahead log begin with it. */
export async function readTimeline(connection: Examined): Promise<number> {
  const [row] = await connection.query(
    'SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline',
  )
  return parseInt(String(row?.['timeline']), 16)
}

function findBrokenPromise(row: Row): string | undefined {
  if (Number(row['version']) < oldestVersion)
    return `PostgreSQL ${String(row['version_text'])} is too old; version 15 or newer is needed.`
  if (!durableCommits.includes(String(row['synchronous_commit'])))
    return (
      `PostgreSQL runs with synchronous_commit = ${String(row['synchronous_commit'])}, so acknowledged ` +
      'charges could be lost. Set it to on (or remote_apply, remote_write) for ' +
      'this role and database: ALTER ROLE … SET synchronous_commit = on.'
    )
  for (const setting of ['fsync', 'full_page_writes'])
    if (row[setting] !== 'on')
      return (
        `PostgreSQL runs with ${setting} = off, so a crash of its machine could destroy the ledger. ` +
        `Set ${setting} = on in postgresql.conf and reload.`
      )
  if (row['encoding'] !== 'UTF8')
    return `The database has the encoding ${String(row['encoding'])}; create one with ENCODING 'UTF8'.`
  return undefined
}

/**
 * A real PgBouncer in front of a test's PostgreSQL, in the given pool mode. Debian's
 * package brings it; it runs without privileges and ends with the test process.
 */
import { spawn } from 'node:child_process'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unprivilegedAccount } from './postgres-programs.ts'
import { findFreePort, turnpikeRole, type PostgresServer } from './postgres.ts'

export type PoolMode = 'session' | 'transaction' | 'statement'

export interface PgBouncer {
  /** The same database, through the pooler. */
  urlOf(storeUrl: string): string
  close(): Promise<void>
}

export async function startPgBouncer(server: PostgresServer, mode: PoolMode): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-pgbouncer-'))
  const port = await findFreePort()
  const users = join(folder, 'users.txt')
  await writeFile(users, `"${turnpikeRole}" "${server.password}"\n`)
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = scram-sha-256',
      `auth_file = ${users}`,
      `pool_mode = ${mode}`,
      // Fewer than the clients there are, so that sessions really are shared.
      'default_pool_size = 3',
      'max_client_conn = 200',
    ].join('\n'),
  )
  const account = unprivilegedAccount()
  if (account !== undefined)
    for (const path of [folder, users, join(folder, 'pgbouncer.ini')])
      await chown(path, account.uid, account.gid)
  // It ends when its input does: the shell reads until the test process closes it or dies.
  const script = '/usr/sbin/pgbouncer "$1" & read -r _; kill -INT $!; wait $!'
  const child = spawn('sh', ['-c', script, 'pgbouncer-watch', join(folder, 'pgbouncer.ini')], {
    ...account,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
  })
  let log = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      log += chunk
      if (log.includes('process up')) resolve()
    })
    child.once('exit', () => reject(new Error(`PgBouncer ended:\n${log}`)))
  })
  return {
    urlOf(storeUrl) {
      const url = new URL(storeUrl)
      url.port = String(port)
      return url.href
    },
    async close() {
      child.stdin.end()
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A primary with a synchronous standby, both real servers, and the store's URL that names both. */
import { eventually } from './eventually.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import { startPostgres, turnpikeRole, type PostgresServer } from './postgres.ts'

export interface Pair {
  readonly primary: PostgresServer
  readonly standby: PostgresServer
  /** Between the two: what it stalls the primary has to wait for. */
  readonly replication: FaultProxy
  readonly storeUrl: string
  close(): Promise<void>
}

export async function startPair(): Promise<Pair> {
  const primary = await startPostgres()
  await primary.createDatabase()
  const replication = await startFaultProxy(primary)
  const standby = await startPostgres({
    standbyOf: { primary, name: 'standby', port: replication.port },
  })
  await primary.run(`ALTER SYSTEM SET synchronous_standby_names = 'standby'`)
  await primary.run('SELECT pg_reload_conf()')
  const isSynchronous = `SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'`
  const count = (): Promise<string> => primary.run(isSynchronous)
  await eventually('the standby is synchronous', count, (text) => text === '1')
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(',')
  return {
    primary,
    standby,
    replication,
    storeUrl:
      `postgres://${turnpikeRole}:${primary.password}@${hosts}/turnpike_1` +
      '?target_session_attrs=read-write',
    async close() {
      await replication.close()
      await standby.close()
      await primary.close()
    },
  }
}

/** Kills the primary and promotes the standby. */
export async function failOver({ primary, standby }: Pair): Promise<void> {
  await primary.stop('immediate')
  await standby.run('SELECT pg_promote()')
}

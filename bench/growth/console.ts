/**
 * Measures the console's pages, and the search for a key, on a large business of two months: 2,000 accounts,
 * 60 channels with 15 models each. On both engines.
 */
import { dirname } from 'node:path'
import { z } from 'zod'
import { startPostgres } from '../../test/support/postgres.ts'
import { askOften, startVendor } from '../client.ts'
import { chooseCores, moveToCore } from '../machine.ts'
import { median } from '../measure/statistics.ts'
import type { Made, RunResult, RunSetting } from '../part.ts'
import { figure, formatTable, text, type Column } from '../table.ts'
import { stopTarget } from '../targets/target.ts'
import { prepareStore, startTurnpike } from '../targets/turnpike.ts'
import { measurePages } from './pages.ts'

const answersOfEach = 20
const keys = z.object({ items: z.array(z.looseObject({ head: z.string() })).min(1) })

export async function runConsole(
  { plan, group, workFolder, root }: RunSetting,
  { command, date, commit }: Made,
): Promise<RunResult> {
  const cores = chooseCores()
  moveToCore(cores.load)
  const port = await startVendor()
  const bench = { group, cores, workFolder, root, vendorPort: port, chatPort: port }
  // Not in the work folder: the server runs as another system user, which may not read it.
  const server = await startPostgres({ parentFolder: dirname(workFolder) })
  const engines = new Map<string, Readonly<Record<string, number>>>()
  try {
    for (const [engine, onServer] of [['SQLite'], ['PostgreSQL', server]] as const) {
      console.error(`bench: console: making the store on ${engine}`)
      const options = { server: onServer, pastRequests: plan.console }
      const store = await prepareStore(bench, engine, options)
      const gateway = await startTurnpike(bench, store, {
        awaitsAudit: true,
        environment: keepsAll,
      })
      const pages = await measurePages(`http://127.0.0.1:${gateway.adminPort}`, store.adminToken)
      const headers = { authorization: `Bearer ${store.adminToken}` }
      const admin = { port: gateway.adminPort, headers }
      const list = { ...admin, path: '/admin/v1/keys?limit=100' }
      const listed = await fetch(`http://127.0.0.1:${gateway.adminPort}${list.path}`, { headers })
      const head = keys.parse(await listed.json()).items[0]?.head ?? ''
      const find = { ...admin, path: '/admin/v1/keys/find', body: JSON.stringify({ head }) }
      engines.set(engine, {
        ...pages,
        'a page of keys': median(await askOften(list, { count: answersOfEach })),
        'a key by its first characters': median(await askOften(find, { count: answersOfEach })),
      })
      await stopTarget(bench, gateway)
    }
  } finally {
    await group.stopAll()
    await server.close()
  }
  const columns: readonly Column<string>[] = [
    text('p50 in ms', (name) => name),
    ...[...engines].map(([engine, figures]) =>
      figure<string>(engine, (name) => figures[name] ?? Number.NaN),
    ),
  ]
  const requests = plan.console.toLocaleString('en')
  const table = formatTable(columns, Object.keys(engines.get('SQLite') ?? {}))
  const made = `Made by \`${command}\` on ${date}, commit ${commit}, with ${requests} requests in the store.`
  return { report: `${made}\n\n${table}`, isRight: true }
}

/** The requests of a store cover two months. */
const keepsAll = { TURNPIKE_REQUEST_RETENTION: '400d' }

/**
 * Measures how requests, usage, lists, reports, audits and the console's pages slow down as a store gets a
 * long past, on both engines, as clients and operators meet them: through a gateway. Then it removes old
 * requests beside new ones.
 */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { startPostgres, type PostgresServer } from '../../test/support/postgres.ts'
import { askOften, startVendor } from '../client.ts'
import { chooseCores, moveToCore } from '../machine.ts'
import { median } from '../measure/statistics.ts'
import type { Made, RunResult, RunSetting } from '../part.ts'
import { figure, formatTable, text, type Column } from '../table.ts'
import { stopTarget, type Bench } from '../targets/target.ts'
import {
  chatOf,
  embeddedPath,
  prepareStore,
  runCommand,
  startTurnpike,
  type Gateway,
  type Store,
} from '../targets/turnpike.ts'
import { measurePages } from './pages.ts'

/** One store of one size. */
interface Grown {
  readonly title: string
  /** By what they are of; milliseconds where nothing else is said. */
  readonly figures: Readonly<Record<string, number>>
  readonly isClean: boolean
}

/** The requests of a store cover two months. */
const keepsAll = { TURNPIKE_REQUEST_RETENTION: '400d' }
const keepsHalf = { TURNPIKE_REQUEST_RETENTION: '30d' }
const warmUpRequests = 2_000
const requestsAlone = 500
const requestsTogether = 4_096
const atOnce = 64
const answersOfEach = 20

/** Of the admin API, by what they ask for. */
const questions: Readonly<Record<string, string>> = {
  'newest requests': '/requests?limit=100',
  'requests of no model': '/requests?model=none&limit=100',
  'report by account': '/reports?by=account&limit=1000',
  'widest report': '/reports?by=day,account,key,model,channel&limit=1000',
}

export async function runGrowth(
  { plan, group, workFolder, root }: RunSetting,
  { command, date, commit }: Made,
): Promise<RunResult> {
  const cores = chooseCores()
  moveToCore(cores.load)
  const port = await startVendor()
  const bench = { group, cores, workFolder, root, vendorPort: port, chatPort: port }
  // Not in the work folder: the server runs as another system user, which may not read it.
  const server = await startPostgres({ parentFolder: dirname(workFolder) })
  const stores: Grown[] = []
  try {
    for (const onServer of [undefined, server])
      for (const requests of plan.growth) stores.push(await measure(bench, requests, onServer))
  } finally {
    await group.stopAll()
    await server.close()
  }
  const columns: readonly Column<string>[] = [
    text('p50 in ms', (name) => name),
    ...stores.map(({ title, figures }) =>
      figure<string>(title, (name) => figures[name] ?? Number.NaN),
    ),
  ]
  const table = formatTable(columns, Object.keys(stores[0]?.figures ?? {}))
  const isRight = stores.every(({ isClean }) => isClean)
  const audits = `The audits are ${isRight ? '' : '**NOT** '}clean.`
  const made = `Made by \`${command}\` on ${date}, commit ${commit}. ${audits}`
  return { report: `${made}\n\n${table}`, isRight }
}

async function measure(
  bench: Bench,
  requests: number,
  server: PostgresServer | undefined,
): Promise<Grown> {
  const name = server === undefined ? 'SQLite' : 'PostgreSQL'
  const title = `${name}, ${requests.toLocaleString('en')}`
  console.error(`bench: growth: making the store ${title}`)
  const store = await prepareStore(bench, `${name}-${requests}`, { server, pastRequests: requests })
  const bytes = await sizeBytes(store)
  const gateway = await startTurnpike(bench, store, { awaitsAudit: true, environment: keepsAll })
  const chat = chatOf(gateway)
  await askOften(chat, { count: warmUpRequests, atOnce })
  const alone = await askOften(chat, { count: requestsAlone })
  const together = await askOften(chat, { count: requestsTogether, atOnce })
  const created = await runCommand(bench, store, ['token', 'create', 'bench'])
  const { token } = z.object({ token: z.string() }).parse(created)
  const holder = { authorization: `Bearer ${token}` }
  const usage = { port: chat.port, path: '/v1/usage?period=month', headers: holder }
  const answers: Record<string, number> = {
    'usage of a month': median(await askOften(usage, { count: answersOfEach })),
  }
  const headers = { authorization: `Bearer ${store.adminToken}` }
  for (const [question, path] of Object.entries(questions)) {
    const asked = { port: gateway.adminPort, path: `/admin/v1${path}`, headers }
    answers[question] = median(await askOften(asked, { count: answersOfEach }))
  }
  const pages = await measurePages(`http://127.0.0.1:${gateway.adminPort}`, store.adminToken)
  const newAuditMs = await readAuditMs(gateway, store)
  await stopTarget(bench, gateway)
  const startedMs = performance.now()
  const audit = z.object({ clean: z.boolean() }).parse(await runCommand(bench, store, ['audit']))
  const fullAuditMs = performance.now() - startedMs
  const removing = await startTurnpike(bench, store, { awaitsAudit: true, environment: keepsHalf })
  const removed = await askOften(chatOf(removing), { count: warmUpRequests })
  await stopTarget(bench, removing)
  const figures = {
    'bytes of disk for a request': bytes / requests,
    'a request alone': median(alone),
    'a request alone, longest': Math.max(...alone),
    [`one of ${atOnce} at once`]: median(together),
    'while old requests are removed': median(removed),
    'while old requests are removed, longest': Math.max(...removed),
    ...answers,
    ...pages,
    'hourly audit': newAuditMs,
    'full audit, s': fullAuditMs / 1_000,
  }
  return { title, figures, isClean: audit.clean }
}

async function sizeBytes({ folder, server, environment }: Store): Promise<number> {
  if (server === undefined) return statSync(embeddedPath(folder)).size
  const database = new URL(environment['TURNPIKE_STORE'] ?? '').pathname.slice(1)
  return Number(await server.run(`SELECT pg_database_size('${database}')`))
}

const audits = z.object({
  items: z.array(z.looseObject({ scope: z.string(), duration_ms: z.number() })),
})

async function readAuditMs({ adminPort }: Gateway, { adminToken }: Store): Promise<number> {
  const headers = { authorization: `Bearer ${adminToken}` }
  const answer = await fetch(`http://127.0.0.1:${adminPort}/admin/v1/audits`, { headers })
  const { items } = audits.parse(await answer.json())
  return items.find(({ scope }) => scope === 'recent')?.duration_ms ?? Number.NaN
}

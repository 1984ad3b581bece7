/** Operations measured on a store of each kind: as the command and the API call them, without a gateway. */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { systemClock } from '../../src/base/clock.ts'
import { Secret } from '../../src/base/secret.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import type { Database } from '../../src/storage/database.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openStore } from '../../src/storage/open.ts'
import { startPostgres } from '../../test/support/postgres.ts'

/** In the form in which a gateway holds it. It protects nothing: the credentials are made up. */
export const benchMasterKey = Buffer.alloc(32).toString('base64')

export function benchContext(database: Database): OperationContext {
  return {
    database,
    clock: systemClock,
    actor: 'bench',
    masterKey: () => new Secret(benchMasterKey),
    environment: () => undefined,
    runCheck: noCheck,
  }
}

/** Calls `measure` with a new store on SQLite, then with one on PostgreSQL; removes both. */
export async function onBothStores(measure: (database: Database) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-operations-'))
  const server = await startPostgres()
  try {
    for (const [name, store] of [
      ['SQLite', `sqlite:${join(folder, 'turnpike.db')}`],
      ['PostgreSQL', await server.createDatabase()],
    ] as const) {
      const load = loadavg().map((one) => one.toFixed(0))
      process.stdout.write(`${name}, load ${load.join(' ')}\n`)
      const database = await openStore(store)
      try {
        await migrate(database)
        await measure(database)
      } finally {
        await database.close()
      }
    }
  } finally {
    await server.close()
    rmSync(folder, { recursive: true })
  }
}

/** Prints the shortest and the longest time of several runs, and the CPU time of this process for one. */
export async function measureRuns(
  label: string,
  runs: number,
  run: () => Promise<void>,
): Promise<void> {
  const times: number[] = []
  const before = process.cpuUsage()
  for (let count = 0; count < runs; count++) {
    const startedMs = performance.now()
    await run()
    times.push(performance.now() - startedMs)
  }
  const { user, system } = process.cpuUsage(before)
  const cpuMs = (user + system) / 1_000 / runs
  const [least, most] = [Math.min(...times), Math.max(...times)].map((time) => time.toFixed(1))
  process.stdout.write(
    `  ${label}: ${least} to ${most} ms in ${runs} runs, ${cpuMs.toFixed(1)} ms of CPU each\n`,
  )
}

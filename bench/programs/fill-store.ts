/**
 * Fills a new store with the requests of two months, to look at the console with much data or to measure with
 * it; prints an owner's token. Run: node bench/programs/fill-store.ts sqlite:turnpike.db [requests]
 */
import { performance } from 'node:perf_hooks'
import { migrate } from '../../src/storage/migrate.ts'
import { openStore } from '../../src/storage/open.ts'
import { fillLargeStore, largeShape } from '../../test/support/console/large-store.ts'
import { createAdminToken } from '../../test/support/operations.ts'
import { benchContext } from '../measure/bench-context.ts'

const [store, requests = String(largeShape.requests)] = process.argv.slice(2)
if (store === undefined) throw new Error('usage: fill-store.ts STORE [REQUESTS]')
const database = await openStore(store)
try {
  await migrate(database)
  const context = benchContext(database)
  const startedMs = performance.now()
  await fillLargeStore(context, { ...largeShape, requests: Number(requests) })
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
  const { secret } = await createAdminToken(context, { name: 'owner', role: 'owner' })
  process.stdout.write(`${requests} requests in ${seconds} s; owner token ${secret}\n`)
} finally {
  await database.close()
}

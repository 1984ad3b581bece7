/** The admin API gives the same answers on PostgreSQL, and repeated requests meet there too. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./matrix.test.ts')
await import('./repeats.test.ts')

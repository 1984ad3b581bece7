/** Changes over the admin API act on the next request on PostgreSQL too. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./changes-in-force.test.ts')

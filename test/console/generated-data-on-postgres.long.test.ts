/** The generated data is right on PostgreSQL too. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./generated-data.long.test.ts')

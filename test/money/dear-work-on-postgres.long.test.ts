/** What a request may read is held as exactly on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./dear-work.test.ts')

/** Account holders search their requests in the same way on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./holder-requests.test.ts')

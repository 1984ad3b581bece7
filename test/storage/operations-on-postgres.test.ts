/** What operators do means the same on PostgreSQL: the operations' own tests, on databases there. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('../../src/operations/operations.test.ts')
await import('../../src/operations/catalogue.test.ts')

/** What operators do means the same on PostgreSQL: the operations' own tests, on databases there. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./operations.test.ts')
await import('./action-list.test.ts')
await import('./catalogue.test.ts')
await import('./demo-end.test.ts')

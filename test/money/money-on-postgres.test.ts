/** Money is as exact on PostgreSQL: tests of charges and limits, on databases there. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./last-cent.test.ts')
await import('./mixed-load.test.ts')
await import('../e2e/limits.test.ts')
await import('../e2e/refused-unread.test.ts')

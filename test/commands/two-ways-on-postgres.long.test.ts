/** Commands do the same on a store and through the admin API, on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./two-ways.test.ts')

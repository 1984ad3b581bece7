/** Own costs and reports say the same on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./own-cost.test.ts')

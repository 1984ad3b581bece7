/** Account holders read the same figures on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./holder-figures.test.ts')

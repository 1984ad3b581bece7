/** Account holders get the same long answers on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./holder-answers.test.ts')

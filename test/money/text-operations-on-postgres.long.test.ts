/** Embeddings and completions are charged the same on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./text-operations.test.ts')

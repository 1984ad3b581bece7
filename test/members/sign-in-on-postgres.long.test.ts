/** Signing in by mail means the same on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./sign-in.test.ts')

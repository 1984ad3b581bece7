/** Clients that leave are charged the same on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./client-leaves.test.ts')
await import('./early-leaves.test.ts')

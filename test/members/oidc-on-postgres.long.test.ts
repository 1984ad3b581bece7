/** Signing in by OpenID Connect means the same on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./oidc.test.ts')

/** The deliveries, the targets, the secrets, the grouping of alerts and the steps of limits on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./deliveries.test.ts')
await import('./targets.test.ts')
await import('./secrets.test.ts')
await import('./grouping.test.ts')
await import('./limit-steps.test.ts')

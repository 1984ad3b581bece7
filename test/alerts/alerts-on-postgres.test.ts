/** The deliveries and the schedule of alerts on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./deliveries.test.ts')
await import('./schedule.test.ts')

/** The same over two gateways that share a store on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./request-log.test.ts')

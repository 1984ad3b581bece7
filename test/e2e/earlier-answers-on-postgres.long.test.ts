/** The same over two gateways that share a store on PostgreSQL. */
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./earlier-answers.test.ts')
await import('./stored-responses.test.ts')
await import('../money/answer-state-crash.test.ts')

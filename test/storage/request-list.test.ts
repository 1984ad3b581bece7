/** The list of requests in the embedded store. */
import { openEmbedded } from './embedded-harness.ts'
import { describeRequestList } from './request-list-conformance.ts'

describeRequestList('the list of requests in the embedded store', () => openEmbedded())

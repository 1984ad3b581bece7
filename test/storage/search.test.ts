/** The search in the embedded store. */
import { openEmbedded } from './embedded-harness.ts'
import { describeSearch } from './search-conformance.ts'

describeSearch('the search in the embedded store', () => openEmbedded())

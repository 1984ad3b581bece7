/** Changes of single entries of the catalogue on the embedded store. */
import { describeEntries } from './catalogue-entries-conformance.ts'
import { describeEquivalence } from './catalogue-equivalence-conformance.ts'
import { openEmbedded } from './embedded-harness.ts'

describeEntries('entries of the catalogue of the embedded store', () => openEmbedded())
describeEquivalence('an entry and its file on the embedded store', () => openEmbedded())

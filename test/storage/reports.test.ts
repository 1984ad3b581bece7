/** Reports of the embedded store. */
import { openEmbedded } from './embedded-harness.ts'
import { describeReports } from './reports-conformance.ts'

describeReports('reports of the embedded store', () => openEmbedded())

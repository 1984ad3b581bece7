/** Reports of the embedded store. */
import { openEmbedded } from './embedded-harness.ts'
import { describeReportHours } from './report-hours-conformance.ts'
import { describeReports } from './reports-conformance.ts'

describeReports('reports of the embedded store', () => openEmbedded())
describeReportHours('hours in the overview of the embedded store', () => openEmbedded())

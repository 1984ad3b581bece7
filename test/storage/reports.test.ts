/** Reports of the embedded store. */
import { describeChannelTraffic } from './channel-traffic-conformance.ts'
import { openEmbedded } from './embedded-harness.ts'
import { describeLabels } from './labels-conformance.ts'
import { describeReportHours } from './report-hours-conformance.ts'
import { describeReports } from './reports-conformance.ts'

describeReports('reports of the embedded store', () => openEmbedded())
describeReportHours('hours in the overview of the embedded store', () => openEmbedded())
describeChannelTraffic('traffic of channels in the embedded store', () => openEmbedded())
describeLabels('labels in the embedded store', () => openEmbedded())

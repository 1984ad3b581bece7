/** What operators keep about their work, on the embedded store. */
import { openEmbedded } from './embedded-harness.ts'
import { describeWork } from './operators-work-conformance.ts'

describeWork('the work of operators on the embedded store', () => openEmbedded())

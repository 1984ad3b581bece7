/** Refunds on the embedded store. */
import { openEmbedded } from './embedded-harness.ts'
import { describeRefunds } from './refunds-conformance.ts'

describeRefunds('refunds on the embedded store', () => openEmbedded())

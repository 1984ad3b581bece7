/** Payments on the embedded store. */
import { openEmbedded } from './embedded-harness.ts'
import { describePayments } from './payments-conformance.ts'

describePayments('payments on the embedded store', () => openEmbedded())

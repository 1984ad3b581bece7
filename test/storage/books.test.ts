/** Statements and reconciliations of the embedded store. */
import { describeBooks } from './books-conformance.ts'
import { openEmbedded } from './embedded-harness.ts'

describeBooks('the books of the embedded store', () => openEmbedded())

/** The chains of sealed entries on the embedded store. */
import { openEmbedded } from './embedded-harness.ts'
import { describeProofs } from './proofs-conformance.ts'

describeProofs('sealed entries on the embedded store', () => openEmbedded())

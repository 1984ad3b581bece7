/** Top-up codes on the embedded store. */
import { describeCodes } from './codes-conformance.ts'
import { openEmbedded } from './embedded-harness.ts'

describeCodes('top-up codes on the embedded store', () => openEmbedded())

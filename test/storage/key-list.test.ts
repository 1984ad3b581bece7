/** Keys of all accounts in the embedded store. */
import { openEmbedded } from './embedded-harness.ts'
import { describeKeyList } from './key-list-conformance.ts'

describeKeyList('keys of all accounts in the embedded store', () => openEmbedded())

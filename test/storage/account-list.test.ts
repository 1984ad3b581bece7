/** The list of accounts of the embedded store. */
import { describeAccountList } from './account-list-conformance.ts'
import { openEmbedded } from './embedded-harness.ts'

describeAccountList('the list of accounts of the embedded store', () => openEmbedded())

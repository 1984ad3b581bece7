/** Members of accounts on the embedded store. */
import { openEmbedded } from './embedded-harness.ts'
import { describeMembers } from './members-conformance.ts'

describeMembers('members on the embedded store', () => openEmbedded())

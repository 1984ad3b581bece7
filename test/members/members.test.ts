/** Members of accounts on the embedded store. */
import { openEmbedded } from '../storage/embedded-harness.ts'
import { describeMembers } from './members-conformance.ts'

describeMembers('members on the embedded store', () => openEmbedded())

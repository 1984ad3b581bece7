/** The embedded ledger keeps the contract of every ledger. */
import { openEmbedded } from './embedded-harness.ts'
import { describeLedger } from './ledger-conformance.ts'

describeLedger('the embedded ledger', () => openEmbedded())

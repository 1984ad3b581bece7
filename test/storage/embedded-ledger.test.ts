/** The embedded ledger keeps the contract of every ledger. */
import { openEmbedded } from './embedded-harness.ts'
import { describeAnswerStates } from './answer-states.ts'
import { describeSums } from './sums-conformance.ts'
import { describeLedger } from './ledger-conformance.ts'
import { describeLimitOrder } from './limit-order-conformance.ts'
import { describeLimits } from './limits-conformance.ts'
import { describeWaivers } from './waivers-conformance.ts'

describeLedger('the embedded ledger', () => openEmbedded())
describeLimits('limits of the embedded ledger', () => openEmbedded())
describeLimitOrder('order of limits in the embedded ledger', () => openEmbedded())
describeSums('figures of the embedded ledger', () => openEmbedded())
describeAnswerStates('state of answers in the embedded ledger', () => openEmbedded())
describeWaivers('requests that came to nothing, with the embedded ledger', () => openEmbedded())

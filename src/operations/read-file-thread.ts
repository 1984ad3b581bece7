/** The thread of read-file.ts: reads one file. */
import { answerOrder } from '../base/thread.ts'
import { carryOut, type FileOrder } from './read-file.ts'

await answerOrder((order) => carryOut(order as FileOrder))

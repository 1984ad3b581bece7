/** The thread of json-body.ts: parses one large body. */
import { answerOrder } from '../../base/thread.ts'
import { parseJsonObject } from './json-text.ts'

await answerOrder((bytes) => parseJsonObject(bytes as Uint8Array))

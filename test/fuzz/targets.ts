/** All that is fuzzed. */
import type { FuzzTarget } from './target.ts'
import { answerStreamTarget } from './targets/answer-stream.ts'
import { answerWholeTarget } from './targets/answer-whole.ts'
import { catalogueTarget } from './targets/catalogue.ts'
import { csvTarget } from './targets/csv.ts'
import { headersTarget } from './targets/headers.ts'
import { proxyLineTarget } from './targets/proxy-line.ts'
import { requestBodyTarget } from './targets/request-body.ts'

export const targets: readonly FuzzTarget[] = [
  requestBodyTarget,
  answerStreamTarget,
  answerWholeTarget,
  headersTarget,
  catalogueTarget,
  csvTarget,
  proxyLineTarget,
]

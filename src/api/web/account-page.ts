/**
 * The account page on the public listener: its files, and what it shows of the operator. None of it needs a
 * token. The usage comes from `/v1/usage`, with the holder's read-only token.
 */
import type { Clock } from '../../base/clock.ts'
import { refuse, type Refusal } from '../../base/errors.ts'
import type { IncomingRequest } from '../../http/server/request.ts'
import { jsonReply, sendReply, type Reply } from '../../http/server/reply.ts'
import type { ResponseWriter } from '../../http/server/response-writer.ts'
import { namedReply, refusalReply } from '../refusal-reply.ts'
import { paced, smallBytesMax } from '../usage/holder-answers.ts'
import { notBuilt } from './not-built.ts'
import type { Operator } from './operator.ts'
import type { Page } from './site.ts'
import { replyWithFile } from './site-file.ts'

export interface AccountPageParts {
  readonly clock: Clock
  readonly accountPage: Page
  readonly operator: Operator
}

const prefix = '/account/'
const indexName = 'index.html'

export function isAccountPath(path: string): boolean {
  return path.startsWith(prefix) || path === '/account'
}

export async function serveAccountPage(
  request: IncomingRequest,
  response: ResponseWriter,
  path: string,
  parts: AccountPageParts,
): Promise<void> {
  const found = await answer(request, path, parts)
  if ('code' in found) return sendReply(request, response, refusalReply(found, parts.clock))
  const reply = namedReply(found, parts.clock)
  const { headers, body } = reply
  if (!Buffer.isBuffer(body) || body.length <= smallBytesMax || request.method === 'HEAD')
    return sendReply(request, response, reply)
  await paced({ request, response }, headers, (answer) => answer.writeBytes(body))
}

async function answer(
  request: IncomingRequest,
  path: string,
  { accountPage, operator }: AccountPageParts,
): Promise<Reply | Refusal> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refuse('http.method_not_allowed', 'Use GET here.', { allow: 'GET, HEAD' })
  if (path === '/account') return { status: 308, headers: ['location', prefix], body: [] }
  if (path === `${prefix}operator.json`) return jsonReply(200, operator)
  const name = path.slice(prefix.length) || indexName
  const file = accountPage.get(name)
  if (file === undefined)
    return accountPage.has(indexName)
      ? refuse('http.not_found', 'The account page has no such file.')
      : notBuilt('account page')
  return replyWithFile(file, {
    acceptEncoding: request.header('accept-encoding'),
    ifNoneMatch: request.header('if-none-match'),
  })
}

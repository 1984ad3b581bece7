/**
 * The console's files at `/console/`. They need no token, because they hold no facts of a store: the pages
 * read those over the admin API. Every path that is no file is a path of the page's own.
 */
import type { Hono } from 'hono'
import { refuse } from '../../base/errors.ts'
import { notBuilt } from '../web/not-built.ts'
import type { Page } from '../web/site.ts'
import { replyWithFile } from '../web/site-file.ts'
import { answerRefusal, refuseOtherMethods, type Environment, type Request } from './request.ts'

const prefix = '/console/'
/** Below it are only files: an old page that asks for one that is gone must not get a page for it. */
const assetFolder = 'assets/'

export function addConsole(app: Hono<Environment>, page: Page): void {
  app.get('/console', (request) => request.redirect(prefix, 308))
  app.get(`${prefix}*`, (request) => answer(request, page))
  for (const path of ['/console', `${prefix}*`]) refuseOtherMethods(app, path, ['GET', 'HEAD'])
}

async function answer(request: Request, page: Page): Promise<Response> {
  const path = request.req.path.slice(prefix.length)
  const index = page.get('index.html')
  if (index === undefined) return answerRefusal(request, notBuilt('console'))
  const file = page.get(path) ?? (path.startsWith(assetFolder) ? undefined : index)
  if (file === undefined)
    return answerRefusal(request, refuse('http.not_found', 'The console has no such file.'))
  const reply = await replyWithFile(file, {
    acceptEncoding: request.req.header('accept-encoding'),
    ifNoneMatch: request.req.header('if-none-match'),
  })
  for (let index = 0; index < reply.headers.length; index += 2)
    request.header(reply.headers[index] ?? '', reply.headers[index + 1])
  if (reply.status === 304) return request.body(null, 304)
  return request.body(reply.body)
}

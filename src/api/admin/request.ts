/** A request of the admin listener as its handlers see it, and the one way to refuse it. */
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { errorCatalogue } from '../../base/error-catalogue.ts'
import { refuse, type Refusal } from '../../base/errors.ts'
import type { OperationRefusal } from '../../operations/operation.ts'
import { problemOf, problemType } from './problem.ts'
import type { Operator } from './sign-in.ts'

export interface Environment {
  readonly Bindings: HttpBindings
  readonly Variables: { requestId: string; operator: Operator }
}

export type Request = Context<Environment>

export const apiPath = '/admin/v1'

/** Answers every method that has no handler at this path. */
export function refuseOtherMethods(
  app: Hono<Environment>,
  path: string,
  allowed: readonly string[],
): void {
  const allow = allowed.join(', ')
  app.all(path, (request) =>
    answerRefusal(request, refuse('http.method_not_allowed', `Use ${allow} here.`, { allow })),
  )
}

/** Answers with problem details; `/metrics` and the probes have the form of the public listener's errors. */
export function answerRefusal(request: Request, refusal: Refusal | OperationRefusal): Response {
  const { status } = errorCatalogue[refusal.code]
  if (status === 401) request.header('www-authenticate', 'Bearer')
  for (const [name, value] of Object.entries(refusal.headers ?? {})) request.header(name, value)
  const requestId = request.get('requestId')
  if (/^\/(?:admin|console)(?:\/|$)/.test(request.req.path)) {
    request.header('content-type', problemType)
    return request.body(JSON.stringify(problemOf(refusal, requestId)), status)
  }
  const { code, message } = refusal
  return request.json({ error: { type: code, message, request_id: requestId } }, status)
}

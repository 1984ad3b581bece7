/**
 * The admin API with the types of its OpenAPI document. The session cookie is the only credential. Every
 * refusal becomes a `Problem`, which has the texts that the API gives.
 */
import createClient, { type Middleware } from 'openapi-fetch'
import { isHeard, t } from '../messages/t.ts'
import type { components, paths } from './schema.ts'
import { Problem } from '../problem.ts'
import { withoutSecrets } from '../secret.ts'
import { causeOfRequest } from './interaction.ts'

export { Problem }

type ProblemDetails = components['schemas']['Problem']

const sessionRules: Middleware = {
  onRequest({ request }) {
    // Proxies log addresses.
    if (request.url !== withoutSecrets(request.url))
      throw new Problem(400, { detail: t('shell.secretInAddress') })
    request.headers.set('x-turnpike-console', causeOfRequest())
    if (request.method !== 'GET') request.headers.set('content-type', 'application/json')
    return request
  },
  onError() {
    return new Problem(0, { detail: t('ui.state.noAnswer') })
  },
}

export const api = createClient<paths, 'application/json'>({ baseUrl: '/' })
api.use(sessionRules)

interface Answer<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

/** Returns the body of an answer, or throws its `Problem`. */
export async function bodyOf<Data>(asked: Promise<Answer<Data>>): Promise<NonNullable<Data>> {
  const { data, error, response } = await asked
  await isHeard
  if (response.ok && data !== undefined && data !== null) return data
  throw new Problem(response.status, isProblem(error) ? error : {})
}

function isProblem(value: unknown): value is Partial<ProblemDetails> {
  return typeof value === 'object' && value !== null && 'detail' in value
}

/** Address of all rows of a question as a file. */
export function csvAddressOf(path: string, query: object): string {
  const given = new URLSearchParams(Object.entries({ ...query, format: 'csv' }))
  return `${path}?${given.toString()}`
}

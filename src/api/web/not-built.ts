/** The refusal where a checkout of the sources has no built pages. A release has them. */
import { refuse, type Refusal } from '../../base/errors.ts'

export function notBuilt(name: 'console' | 'account page'): Refusal {
  return refuse(
    'http.not_found',
    `The ${name} is not built. Run "npm run console" in the folder of Turnpike, then start the gateway again.`,
  )
}

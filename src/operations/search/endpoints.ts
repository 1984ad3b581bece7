/** The endpoint of the search over everything that has a name or an id. */
import { endpoints } from '../endpoint.ts'
import { search } from './search.ts'

export const searchEndpoints = endpoints('search', {
  find: {
    route: 'POST /search',
    summary:
      'Find accounts, keys, requests, channels and models by name or id, the best fit first.',
    // It reads. The text is in the body, so that no address has it.
    role: 'viewer',
    operation: search,
    example: { text: 'north' },
  },
})

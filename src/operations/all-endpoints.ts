/** All endpoints of the admin API. */
import { accountEndpoints, accountStreams } from './accounts/endpoints.ts'
import { alertEndpoints } from './alerts/endpoints.ts'
import { catalogueEndpoints } from './catalogue/endpoints.ts'
import { channelEndpoints } from './channels/endpoints.ts'
import { codeEndpoints } from './codes/endpoints.ts'
import { paymentEndpoints } from './payments/endpoints.ts'
import type {
  Endpoint,
  FeedEndpoint,
  FileEndpoint,
  SessionCall,
  StreamEndpoint,
} from './endpoint.ts'
import { eventFeeds } from './events/endpoints.ts'
import { keyEndpoints } from './keys/endpoints.ts'
import { memberEndpoints } from './members/endpoints.ts'
import { noteEndpoints } from './notes/endpoints.ts'
import { reconciliationEndpoints } from './reconcile/endpoints.ts'
import { reportEndpoints } from './reports/endpoints.ts'
import { requestEndpoints } from './requests/endpoints.ts'
import { searchEndpoints } from './search/endpoints.ts'
import { sessionCalls, sessionEndpoints } from './sessions/endpoints.ts'
import { storeEndpoints, storeFiles } from './store/endpoints.ts'

export const allEndpoints: readonly Endpoint[] = [
  ...Object.values(accountEndpoints),
  ...Object.values(requestEndpoints),
  ...Object.values(keyEndpoints),
  ...Object.values(codeEndpoints),
  ...Object.values(paymentEndpoints),
  ...Object.values(catalogueEndpoints),
  ...Object.values(channelEndpoints),
  ...Object.values(reconciliationEndpoints),
  ...Object.values(reportEndpoints),
  ...Object.values(storeEndpoints),
  ...Object.values(memberEndpoints),
  ...Object.values(noteEndpoints),
  ...Object.values(searchEndpoints),
  ...Object.values(alertEndpoints),
  ...Object.values(sessionEndpoints),
]

/** Endpoints whose answer is written while it is read. */
export const allStreams: readonly StreamEndpoint[] = Object.values(accountStreams)

/** Endpoints whose answer is a file. */
export const allFiles: readonly FileEndpoint[] = Object.values(storeFiles)

/** Endpoints whose answer is events. */
export const allFeeds: readonly FeedEndpoint[] = Object.values(eventFeeds)

/** Endpoints about the session of the browser that calls them. */
const allSessionCalls: readonly SessionCall[] = Object.values(sessionCalls)

export const allRows = [
  ...allEndpoints,
  ...allStreams,
  ...allFiles,
  ...allFeeds,
  ...allSessionCalls,
] as const

/**
 * `GET /health`: the state of the gateway, from what it already knows. It asks no vendor and no store, so
 * it always answers at once.
 */
import type { Clock } from '../base/clock.ts'
import type { HealthBook } from '../channels/health/health-book.ts'
import { fitnessNow, serviceOf, serviceOfVendor, type Service } from '../channels/health/service.ts'
import type { LoadedSnapshot } from '../channels/snapshot.ts'
import type { IncomingRequest } from '../http/server/request.ts'
import { jsonReply, sendReply } from '../http/server/reply.ts'
import type { ResponseWriter } from '../http/server/response-writer.ts'
import { namedReply } from './refusal-reply.ts'

export type HealthStatus = 'ok' | 'degraded' | 'down'

export interface HealthApiParts {
  readonly clock: Clock
  readonly region: string
  readonly health: HealthBook
  readonly snapshot: () => LoadedSnapshot
  readonly isStoreAvailable: () => boolean
}

export function serveHealth(
  request: IncomingRequest,
  response: ResponseWriter,
  parts: HealthApiParts,
): void {
  const snapshot = parts.snapshot()
  const status = healthStatus(snapshot, parts)
  const answer = {
    status,
    region: parts.region,
    upstreams: [...snapshot.vendors.keys()],
    ts: new Date(parts.clock.now()).toISOString(),
  }
  const reply = jsonReply(status === 'down' ? 503 : 200, answer)
  sendReply(request, response, namedReply(reply, parts.clock))
}

/**
 * `ok`: each model of every vendor has a usable channel of the main rank. `degraded`: a vendor has no
 * usable channel, or a model runs on a reserve. `down`: no channel is usable, or charges cannot be
 * booked. Vendors without models do not count.
 */
export function healthStatus(
  snapshot: LoadedSnapshot,
  parts: Pick<HealthApiParts, 'health' | 'isStoreAvailable'>,
): HealthStatus {
  if (!parts.isStoreAvailable()) return 'down'
  const services = [...snapshot.vendors.keys()]
    .filter((vendor) => hasModels(snapshot, vendor))
    .map((vendor) => serviceNow(snapshot, vendor, parts.health))
  if (services.every((service) => service === 'none')) return 'down'
  return services.every((service) => service === 'main') ? 'ok' : 'degraded'
}

/** Counts models without a price too. */
function hasModels({ models, outOfService }: LoadedSnapshot, vendor: string): boolean {
  return (
    models.values().some((model) => model.vendor === vendor) ||
    outOfService.some((one) => one.kind === 'model' && one.vendor === vendor)
  )
}

function serviceNow(snapshot: LoadedSnapshot, vendor: string, health: HealthBook): Service {
  const models = [...snapshot.models.values()].filter((model) => model.vendor === vendor)
  return serviceOfVendor(
    models.map(({ id }) => {
      const channels = snapshot.channelsByModel.get(id) ?? []
      return serviceOf(
        channels.map((channel) => ({
          rank: channel.rank,
          fitness: fitnessNow(health.grade(channel, id)),
        })),
      )
    }),
  )
}

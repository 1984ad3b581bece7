/**
 * `GET /health`: how the gateway is, from what it already knows. Never asks a vendor or the store,
 * so it answers at once however busy the rest is.
 */
import type { Clock } from '../base/clock.ts'
import type { Channel } from '../channels/channel.ts'
import type { HealthBook } from '../channels/health-book.ts'
import {
  modelCondition,
  type ChannelFitness,
  type ModelCondition,
} from '../channels/model-condition.ts'
import type { LoadedSnapshot } from '../channels/snapshot.ts'
import type { IncomingRequest } from '../http/incoming-request.ts'
import { jsonReply, sendReply } from '../http/reply.ts'
import type { ResponseWriter } from '../http/response-writer.ts'
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
 * `ok`: every vendor has a usable channel for each of its models on the main route. `degraded`: some
 * vendor has none usable, or some model runs on a reserve. `down`: nothing is usable, or no charge
 * can be booked. A vendor without models promises nothing that could be missing.
 */
export function healthStatus(
  snapshot: LoadedSnapshot,
  parts: Pick<HealthApiParts, 'health' | 'isStoreAvailable'>,
): HealthStatus {
  if (!parts.isStoreAvailable()) return 'down'
  const conditions = [...snapshot.vendors.keys()]
    .filter((vendor) => hasModels(snapshot, vendor))
    .map((vendor) => vendorCondition(snapshot, vendor, parts.health))
  if (conditions.every((condition) => condition === 'none')) return 'down'
  return conditions.every((condition) => condition === 'main') ? 'ok' : 'degraded'
}

/** Also such as are not served, because they have no price. */
function hasModels({ models, outOfService }: LoadedSnapshot, vendor: string): boolean {
  return (
    models.values().some((model) => model.vendor === vendor) ||
    outOfService.some((one) => one.kind === 'model' && one.vendor === vendor)
  )
}

/** A vendor with any model that runs on a reserve, or on nothing, is not on its main route. */
function vendorCondition(
  snapshot: LoadedSnapshot,
  vendor: string,
  health: HealthBook,
): ModelCondition {
  const conditions: ModelCondition[] = []
  for (const model of snapshot.models.values()) {
    if (model.vendor !== vendor) continue
    const channels = snapshot.channelsByModel.get(model.id) ?? []
    conditions.push(modelCondition(channels, (channel) => fitnessOf(channel, model.id, health)))
  }
  if (conditions.every((condition) => condition === 'none')) return 'none'
  return conditions.every((condition) => condition === 'main') ? 'main' : 'reserve'
}

/**
 * A trial may fail, a slow channel has lost its traffic, one in doubt is being looked at, and one at rest
 * has asked for a moment: until it is back the reserve serves, and without one they are still tried.
 */
function fitnessOf(channel: Channel, model: string, health: HealthBook): ChannelFitness {
  const grade = health.grade(channel, model)
  if (grade === 'on' || grade === 'ramp') return 'main'
  return grade === 'off' || grade === 'disabled' ? 'none' : 'usable'
}

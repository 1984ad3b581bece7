/**
 * `GET /health`: the state of the gateway, from what it already knows. It asks no vendor and no store, so
 * it always answers at once.
 */
import type { Clock } from '../base/clock.ts'
import type { Channel } from '../channels/channel.ts'
import type { HealthBook } from '../channels/health/health-book.ts'
import {
  modelCondition,
  type ChannelFitness,
  type ModelCondition,
} from '../channels/health/health-line.ts'
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
  const conditions = [...snapshot.vendors.keys()]
    .filter((vendor) => hasModels(snapshot, vendor))
    .map((vendor) => vendorCondition(snapshot, vendor, parts.health))
  if (conditions.every((condition) => condition === 'none')) return 'down'
  return conditions.every((condition) => condition === 'main') ? 'ok' : 'degraded'
}

/** Counts models without a price too. */
function hasModels({ models, outOfService }: LoadedSnapshot, vendor: string): boolean {
  return (
    models.values().some((model) => model.vendor === vendor) ||
    outOfService.some((one) => one.kind === 'model' && one.vendor === vendor)
  )
}

/** `main` only where every model of the vendor runs on its main channels. */
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
 * A channel on trial, slow, suspect or resting is only usable: the reserve serves instead, and without a
 * reserve the channel is still tried.
 */
function fitnessOf(channel: Channel, model: string, health: HealthBook): ChannelFitness {
  const grade = health.grade(channel, model)
  if (grade === 'on' || grade === 'ramp') return 'main'
  return grade === 'off' || grade === 'disabled' ? 'none' : 'usable'
}

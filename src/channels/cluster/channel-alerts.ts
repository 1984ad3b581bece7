/**
 * Raises alerts for operators, once each: a channel is off or back, a credential is refused, a model
 * has lost its main route or every channel, and its recovery. Decides by states: a channel that a
 * vendor asked to wait a moment raises no alert.
 */
import type { Telemetry } from '../../telemetry/events.ts'
import type { Snapshot } from '../channel.ts'
import type { PlacedEffect } from '../health/health-event.ts'
import type { HealthPlace } from '../health/health-place.ts'
import { shownMode, type HealthState } from '../health/health-state.ts'
import { lastingService, type Service } from '../health/service.ts'

export interface ChannelAlertsParts {
  readonly telemetry: Telemetry
  readonly monotonic: () => number
  readonly snapshot: () => Snapshot
  readonly state: (channel: string, model: string) => HealthState
}

export interface ChannelAlerts {
  changed(effect: Extract<PlacedEffect, { kind: 'changed' }>, place: HealthPlace): void
  /** The operator has to act. */
  refused(why: string, place: HealthPlace): void
  /** Looks at every model again; after a change of states or of the catalogue. */
  review(): void
}

const outOfUse: ReadonlySet<string> = new Set(['off', 'trial'])

export function createChannelAlerts(parts: ChannelAlertsParts): ChannelAlerts {
  const { telemetry } = parts
  /** Models that are not on their main route, as last reported; of an unknown one nothing is said. */
  const reported = new Map<string, Service | 'unknown'>()

  function eventPlace(place: HealthPlace): HealthPlace & { readonly vendor: string } {
    return { ...place, vendor: parts.snapshot().channels.get(place.channel)?.vendor ?? '' }
  }

  function serviceOfModel(id: string): Service | undefined {
    const now = parts.monotonic()
    const channels = parts.snapshot().channelsByModel.get(id) ?? []
    return lastingService(
      channels.map(({ name, rank, override }) => {
        const state = parts.state(name, id)
        const mode = override === 'disabled' ? override : shownMode(state, now)
        return { rank, mode, why: state.why }
      }),
    )
  }

  function review(): void {
    const { models } = parts.snapshot()
    for (const { id, vendor } of models.values()) {
      const service = serviceOfModel(id) ?? 'unknown'
      if (service === (reported.get(id) ?? 'main')) continue
      reported.set(id, service)
      if (service === 'main') telemetry.modelRecovered(id, vendor)
      else if (service === 'reserve') telemetry.reserveOnly(id, vendor)
      else if (service === 'none') telemetry.noUsableChannel(id, vendor)
    }
    for (const id of reported.keys()) if (!models.has(id)) reported.delete(id)
  }

  return {
    changed({ from, to, why }, place) {
      const change = { from, to, why }
      if (to === 'off' && !outOfUse.has(from)) telemetry.channelOff(eventPlace(place), change)
      else if (outOfUse.has(from) && !outOfUse.has(to))
        telemetry.channelBack(eventPlace(place), change)
      review()
    },
    refused(why, place) {
      if (why === 'model_missing') telemetry.modelMissing(eventPlace(place))
      else if (why === 'no_credit') telemetry.noCredit(eventPlace(place))
      else telemetry.credentialRefused(eventPlace(place))
    },
    review,
  }
}

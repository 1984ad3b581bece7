/**
 * Raises alerts for operators, once each: a channel is off or back, a credential is refused, a model
 * has lost its main route or every channel, and its recovery. Decides by states: a channel that a
 * vendor asked to wait a moment raises no alert.
 */
import type { Telemetry } from '../../telemetry/events.ts'
import type { Channel, Snapshot } from '../channel.ts'
import type { PlacedEffect } from '../health/health-event.ts'
import type { HealthPlace } from '../health/health-place.ts'
import { isResumed, shownMode, type HealthState } from '../health/health-state.ts'
import { modelCondition, type ChannelFitness, type ModelCondition } from '../health/health-line.ts'

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
  const reported = new Map<string, ModelCondition | 'unknown'>()

  function eventPlace(place: HealthPlace): HealthPlace & { readonly vendor: string } {
    return { ...place, vendor: parts.snapshot().channels.get(place.channel)?.vendor ?? '' }
  }

  function fitnessOf(channel: Channel, model: string): ChannelFitness {
    if (channel.override === 'disabled') return 'none'
    const mode = shownMode(parts.state(channel.name, model), parts.monotonic())
    if (mode === 'on' || mode === 'ramp') return 'main'
    return mode === 'slow' ? 'usable' : 'none'
  }

  /** After a restart channels that were not on wait for their first probe, and serve meanwhile. */
  function conditionOf(id: string): ModelCondition | 'unknown' {
    const channels = parts.snapshot().channelsByModel.get(id) ?? []
    const condition = modelCondition(channels, (channel) => fitnessOf(channel, id))
    if (condition !== 'none') return condition
    const mayServe = channels.some(
      ({ name, override }) => override === 'enabled' && isResumed(parts.state(name, id)),
    )
    return mayServe ? 'unknown' : 'none'
  }

  function review(): void {
    const { models } = parts.snapshot()
    for (const { id, vendor } of models.values()) {
      const condition = conditionOf(id)
      if (condition === (reported.get(id) ?? 'main')) continue
      reported.set(id, condition)
      if (condition === 'main') telemetry.modelRecovered(id, vendor)
      else if (condition === 'reserve') telemetry.reserveOnly(id, vendor)
      else if (condition === 'none') telemetry.noUsableChannel(id, vendor)
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

/**
 * How well a model is served by its channels: by its main route, by a reserve only, or by none. One
 * meaning for `/health` and for what operators are told. Pure.
 */
import type { Channel } from './channel.ts'

export type ModelCondition = 'main' | 'reserve' | 'none'

/** `main`: could carry a main route; `usable`: could take a request; `none`: neither. */
export type ChannelFitness = 'main' | 'usable' | 'none'

export function modelCondition(
  channels: readonly Channel[],
  fitnessOf: (channel: Channel) => ChannelFitness,
): ModelCondition {
  const mainRank = Math.min(...channels.map((channel) => channel.rank))
  let condition: ModelCondition = 'none'
  for (const channel of channels) {
    const fitness = fitnessOf(channel)
    if (fitness === 'main' && channel.rank === mainRank) return 'main'
    if (fitness !== 'none') condition = 'reserve'
  }
  return condition
}

/**
 * Selects the channel of the next attempt: a pure function of snapshot, health and tried channels. It
 * opens no connection and changes no state. Invariant: it never selects a channel that is disabled, was
 * tried before, or has reached its concurrency limit; while another channel is left, the first attempt
 * of an exchange gets one.
 *
 * Order: first the lowest rank with a channel that is on, or that takes this exchange as part of its
 * share (ramp, slow). Inside a rank weighted rendezvous hashing keeps a conversation with one model on one
 * channel, so that the vendor's prompt cache stays warm. Then channels whose share does not include this
 * exchange, channels in doubt, failed channels (the latest success first, one exchange at a time), resting
 * channels, and last channels that will surely refuse: to refuse here would fail just as surely.
 */
import type { Channel, Snapshot } from './channel.ts'
import {
  gradeOf,
  isFit,
  isRefusing,
  isTrying,
  shareOf,
  worksAtTimes,
  type HealthState,
} from './health/health-state.ts'

/** The health and load that selection reads; `health-book.ts` implements it. */
export interface ChannelFacts {
  state(channel: string, model: string): HealthState
  /** Attempts of traffic that run on the channel now, of all models. */
  running(channel: string): number
  /** Whether failover tokens allow an account's failed exchange on the channel; see `tokens.ts`. */
  mayFailOverInto(channel: string, accountId: string): boolean
  /** Whether the account has none of its failover tokens left there, because its requests failed. */
  hasSpentOwn(channel: string, accountId: string): boolean
  /** Draws a number in [0, 1) that decides which exchanges belong to a channel's share. */
  draw(): number
}

export interface SelectOptions {
  readonly facts: ChannelFacts
  readonly accountId: string
  /** Exchanges with the same text stay on one channel where possible. */
  readonly conversation: string
  /** Names of the channels that this exchange has tried. */
  readonly tried: readonly string[]
  /** Monotonic milliseconds. */
  readonly now: number
  /** The only channel that may be selected. */
  readonly pinnedTo?: string | undefined
  /** Selected first where it is usable, whatever its rank. */
  readonly preferred?: string | undefined
  /** Whether a channel does not offer the operation: it is tried only where no other is left. */
  readonly lacks?: ((channel: string) => boolean) | undefined
}

/** Returns the channel for the next attempt, or undefined where none may be tried. */
export function selectChannel(
  snapshot: Snapshot,
  model: string,
  options: SelectOptions,
): Channel | undefined {
  const channels = snapshot.channelsByModel.get(model)
  if (channels === undefined) return undefined
  const { facts, tried, now, conversation, preferred } = options
  const lastTier = tried.length === 0 ? tiers.refused : tiers.resting
  let best: Channel | undefined
  let bestTier = 0
  // One draw per selection: all channels with a share take it of the same exchanges.
  let draw: number | undefined
  for (const channel of channels) {
    if (!mayBeTried(channel, options)) continue
    const state = facts.state(channel.name, model)
    let tier = options.lacks?.(channel.name) === true ? tiers.refused : tierOf(state, now)
    if (tier === tiers.shared) {
      draw ??= facts.draw()
      if (draw < shareOf(state, now)) tier = tiers.usable
    }
    if (tier > lastTier || (best !== undefined && tier > bestTier)) continue
    const isBetter =
      best === undefined ||
      tier < bestTier ||
      isPreferred(channel, best, { tier, facts, now, conversation, model, preferred })
    if (!isBetter) continue
    best = channel
    bestTier = tier
  }
  return best
}

/**
 * Whether a channel that is fit to serve is left, but closed to this account because its requests failed
 * there too: then a failure speaks against the account's requests.
 */
export function isClosedToAccount(
  snapshot: Snapshot,
  model: string,
  { facts, tried, now, accountId, pinnedTo }: SelectOptions,
): boolean {
  return (
    pinnedTo === undefined &&
    (snapshot.channelsByModel.get(model) ?? []).some(
      ({ name, override }) =>
        override === 'enabled' &&
        !tried.includes(name) &&
        isFit(gradeOf(facts.state(name, model), now)) &&
        facts.hasSpentOwn(name, accountId),
    )
  )
}

function mayBeTried(channel: Channel, options: SelectOptions): boolean {
  const { facts, tried, accountId, pinnedTo } = options
  if (pinnedTo !== undefined && channel.name !== pinnedTo) return false
  if (channel.override === 'disabled' || tried.includes(channel.name)) return false
  if (tried.length > 0 && !facts.mayFailOverInto(channel.name, accountId)) return false
  return channel.maxConcurrent === undefined || facts.running(channel.name) < channel.maxConcurrent
}

/** A lower tier is tried first. */
const tiers = {
  usable: 0,
  shared: 1,
  doubted: 2,
  failed: 3,
  resting: 4,
  /** Failed, without an answer since, and another exchange is trying it now. */
  trying: 5,
  refused: 6,
} as const

function tierOf(state: HealthState, now: number): number {
  switch (gradeOf(state, now)) {
    case 'on':
    case 'trial':
      return tiers.usable
    case 'ramp':
    case 'slow':
      return tiers.shared
    case 'doubted':
      return tiers.doubted
    case 'off':
      if (isRefusing(state, now)) return tiers.refused
      return isTrying(state, now) && !worksAtTimes(state) ? tiers.trying : tiers.failed
    case 'resting':
      return tiers.resting
  }
}

interface Match extends Pick<SelectOptions, 'facts' | 'now' | 'conversation' | 'preferred'> {
  readonly tier: number
  readonly model: string
}

/** Whether `left` comes before `right`, both in one tier. */
function isPreferred(left: Channel, right: Channel, match: Match): boolean {
  const { tier, facts, model, preferred } = match
  if (tier === tiers.usable && (left.name === preferred || right.name === preferred))
    return left.name === preferred
  if (tier === tiers.failed || tier === tiers.trying) {
    const leftOkAt = facts.state(left.name, model).lastOkAt ?? -1
    const rightOkAt = facts.state(right.name, model).lastOkAt ?? -1
    if (leftOkAt !== rightOkAt) return leftOkAt > rightOkAt
  }
  if (tier === tiers.resting) {
    const leftUntil = facts.state(left.name, model).restUntil
    const rightUntil = facts.state(right.name, model).restUntil
    if (leftUntil !== rightUntil) return leftUntil < rightUntil
  }
  if (left.rank !== right.rank) return left.rank < right.rank
  return scoreOf(left, match) > scoreOf(right, match)
}

/** A channel that only traffic can prove comes first: it takes one exchange that decides. */
function scoreOf(channel: Channel, match: Match): number {
  const { facts, model, now } = match
  const isTrial = gradeOf(facts.state(channel.name, model), now) === 'trial'
  return isTrial ? Number.POSITIVE_INFINITY : rendezvousScore(channel, match)
}

/**
 * Weighted rendezvous hashing: each channel gets a pseudo-random number for this conversation and model, and
 * the highest wins. A new or removed channel moves only the calls that it wins or had. In the long run
 * each channel wins in proportion to its weight.
 */
function rendezvousScore(channel: Channel, { conversation, model }: Match): number {
  const seed = hashText(hashText(hashText(0x811c9dc5, conversation), model), channel.name)
  // In (0, 1) without its ends, so that the logarithm is finite and not zero.
  const draw = (scramble(seed) + 0.5) / 4_294_967_296
  return -channel.weight / Math.log(draw)
}

/** FNV-1a over the text's code units, a separator after it, so that "ab"+"c" differs from "a"+"bc". */
function hashText(seed: number, text: string): number {
  let hash = seed
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return Math.imul(hash ^ 0xffff, 0x01000193)
}

/** MurmurHash3's finalizer: FNV alone leaves its high bits too regular to keep the weights. */
function scramble(value: number): number {
  let mixed = value ^ (value >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

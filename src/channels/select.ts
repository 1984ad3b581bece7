/**
 * Choosing the channel of the next attempt: a pure function of snapshot, health and what was tried.
 * It opens no connection and changes no state. The invariant: a channel that an operator has
 * disabled, that was tried before, or that runs at its cap is never chosen; while one is left, the
 * first attempt of an exchange is never refused.
 *
 * Order: the lowest rank with a channel that is on, or that takes its share while it returns or is
 * slow; inside a rank by weighted rendezvous hashing, so that an account's calls to one model stay
 * on one channel and the vendor's prompt cache stays warm. Then what has a share but not this
 * exchange, what is in doubt, what failed (the one that worked last first, one exchange at a time),
 * what rests, and last what refuses for certain: refusing ourselves would be certain failure too.
 */
import type { Channel, Snapshot } from './channel.ts'
import {
  gradeOf,
  isRefusing,
  isTrying,
  shareOf,
  worksAtTimes,
  type HealthState,
} from './health-state.ts'

/** Where select learns about health and load; `health-book.ts` is the one of the running gateway. */
export interface ChannelFacts {
  state(channel: string, model: string): HealthState
  /** Attempts of traffic running on the channel right now, whatever their model. */
  running(channel: string): number
  /** Whether an account's failed exchange may still be tried there; see `tokens.ts`. */
  mayFailOverInto(channel: string, accountId: string): boolean
  /** A number in [0, 1): which exchanges a channel gets that takes only a share of them. */
  draw(): number
}

export interface SelectOptions {
  readonly facts: ChannelFacts
  readonly accountId: string
  /** Names of channels this exchange has tried already. */
  readonly tried: ReadonlySet<string>
  /** Monotonic milliseconds. */
  readonly now: number
}

/** The channel for the next attempt, or undefined when none may be tried. */
export function selectChannel(
  snapshot: Snapshot,
  model: string,
  options: SelectOptions,
): Channel | undefined {
  const channels = snapshot.channelsByModel.get(model)
  if (channels === undefined) return undefined
  const { facts, tried, now, accountId } = options
  const lastStanding = tried.size === 0 ? standings.refused : standings.resting
  const caller = { accountId, model }
  let best: Channel | undefined
  let bestStanding = 0
  // Drawn at most once: several channels with a share each take theirs of the same exchanges.
  let draw: number | undefined
  for (const channel of channels) {
    if (!mayBeTried(channel, options)) continue
    const state = facts.state(channel.name, model)
    let standing = standingOf(state, now)
    if (standing === standings.shared) {
      draw ??= facts.draw()
      if (draw < shareOf(state, now)) standing = standings.usable
    }
    if (standing > lastStanding || (best !== undefined && standing > bestStanding)) continue
    const isBetter =
      best === undefined ||
      standing < bestStanding ||
      isPreferred(channel, best, { standing, facts, now, ...caller })
    if (!isBetter) continue
    best = channel
    bestStanding = standing
  }
  return best
}

function mayBeTried(channel: Channel, { facts, tried, accountId }: SelectOptions): boolean {
  if (channel.override === 'disabled' || tried.has(channel.name)) return false
  if (tried.size > 0 && !facts.mayFailOverInto(channel.name, accountId)) return false
  return channel.maxConcurrent === undefined || facts.running(channel.name) < channel.maxConcurrent
}

/** Lower is tried sooner. */
const standings = {
  usable: 0,
  shared: 1,
  doubted: 2,
  failed: 3,
  resting: 4,
  /** Failed, has not answered since, and an exchange is finding out already. */
  trying: 5,
  refused: 6,
} as const

function standingOf(state: HealthState, now: number): number {
  switch (gradeOf(state, now)) {
    case 'on':
    case 'trial':
      return standings.usable
    case 'ramp':
    case 'slow':
      return standings.shared
    case 'doubted':
      return standings.doubted
    case 'off':
      if (isRefusing(state, now)) return standings.refused
      return isTrying(state, now) && !worksAtTimes(state) ? standings.trying : standings.failed
    case 'resting':
      return standings.resting
  }
}

interface Match {
  readonly standing: number
  readonly facts: ChannelFacts
  readonly now: number
  readonly accountId: string
  readonly model: string
}

/** Whether `left` comes before `right`, both of one standing. */
function isPreferred(left: Channel, right: Channel, match: Match): boolean {
  const { standing, facts, model, now } = match
  if (standing === standings.failed || standing === standings.trying) {
    const leftOkAt = facts.state(left.name, model).lastOkAt ?? -1
    const rightOkAt = facts.state(right.name, model).lastOkAt ?? -1
    if (leftOkAt !== rightOkAt) return leftOkAt > rightOkAt
  }
  if (standing === standings.resting) {
    const leftUntil = facts.state(left.name, model).restUntil
    const rightUntil = facts.state(right.name, model).restUntil
    if (leftUntil !== rightUntil) return leftUntil < rightUntil
  }
  if (left.rank !== right.rank) return left.rank < right.rank
  return scoreOf(left, match, now) > scoreOf(right, match, now)
}

/** A channel that only traffic can bring back takes the one exchange that decides about it. */
function scoreOf(channel: Channel, match: Match, now: number): number {
  const isTrial = gradeOf(match.facts.state(channel.name, match.model), now) === 'trial'
  return isTrial ? Number.POSITIVE_INFINITY : rendezvousScore(channel, match)
}

/**
 * Weighted rendezvous hashing: each channel draws a number of its own for this account and model,
 * and the highest wins. Adding or removing a channel moves only the calls that it wins or held, and
 * in the long run each channel wins in proportion to its weight.
 */
function rendezvousScore(
  channel: Pick<Channel, 'name' | 'weight'>,
  caller: { readonly accountId: string; readonly model: string },
): number {
  const seed = hashText(
    hashText(hashText(0x811c9dc5, caller.accountId), caller.model),
    channel.name,
  )
  // In (0, 1), both ends excluded, so that the logarithm is finite and not zero.
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

/** MurmurHash3's finalizer: FNV alone leaves its high bits too regular for weights to hold. */
function scramble(value: number): number {
  let mixed = value ^ (value >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/**
 * Requests that wait while nothing at all is heard of a model on a channel. A vendor that takes every
 * request and answers none fails nobody until some limit of minutes is over, and clients that give up
 * before it teach nothing; but silence can be noticed while it lasts. Told the time, it asks nothing.
 */
export interface Silence {
  /** Requests without a word of an answer. */
  waiting: number
  /** Monotonic; since when nothing has been heard although something was waited for. */
  since: number | undefined
  /** How long it may last before somebody has a look; longer each time, until an answer comes. */
  bearableMs: number
}

/** Longer than most answers need to begin; those that think for longer cost a check now and then. */
const firstMs = 20_000
const lastMs = 300_000

export function noSilence(): Silence {
  return { waiting: 0, since: undefined, bearableMs: firstMs }
}

export function startWaiting(silence: Silence, now: number): void {
  silence.waiting++
  silence.since ??= now
}

/** `hasSpoken`: the vendor has said something, be it an error; else whoever waited has left. */
export function stopWaiting(silence: Silence, hasSpoken: boolean, now: number): void {
  silence.waiting--
  if (!hasSpoken) return
  silence.since = silence.waiting > 0 ? now : undefined
  silence.bearableMs = firstMs
}

/** When it will have lasted too long; infinity while nobody waits. */
export function unbearableAt({ waiting, since, bearableMs }: Silence): number {
  return waiting > 0 && since !== undefined ? since + bearableMs : Number.POSITIVE_INFINITY
}

/** Somebody has a look. */
export function lookedAt(silence: Silence, now: number): void {
  silence.since = now
  silence.bearableMs = Math.min(silence.bearableMs * 2, lastMs)
}

/**
 * The client's end of an exchange as the relay needs to know it: is it still there, tell me when it
 * goes. One close listener per exchange serves every stage.
 */
import type { ResponseWriter } from '../http/response-writer.ts'

export interface ClientLink {
  readonly isGone: boolean
  /** Monotonic time at which it went; Infinity while it is there. */
  readonly goneAtMs: number
  /** Called once when the client goes before its answer is complete; the latest setter wins. */
  onGone: (() => void) | undefined
}

interface Moments {
  readonly monotonic: () => number
  readonly onLeft: () => void
}

export function linkClient(response: ResponseWriter, moments: Moments): ClientLink {
  const link = {
    isGone: response.isGone,
    goneAtMs: response.isGone ? moments.monotonic() : Infinity,
    onGone: undefined as (() => void) | undefined,
  }
  response.onGone = () => {
    link.isGone = true
    link.goneAtMs = moments.monotonic()
    link.onGone?.()
    moments.onLeft()
  }
  return link
}

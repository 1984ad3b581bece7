/**
 * An answer as the player sees it: a status, headers, and a body that is either one text or a
 * sequence of frames made on demand. A frame is the smallest thing time can be stopped around.
 */
import type { SandboxUsage } from './sandbox-usage.ts'

export type FrameKind =
  | 'start' // the first event of an answer that is neither ping nor error
  | 'content'
  | 'usage' // carries the final counts
  | 'terminal' // ends the answer
  | 'filler' // pings, comments, unknown events
  | 'error'

export interface Frame {
  readonly kind: FrameKind
  readonly text: string
  /** The counts this frame puts on the wire, as they stand there. */
  readonly usage?: unknown
}

export type AnswerKind = 'answer' | 'empty_refusal' | 'error' | 'free'

interface AnswerBase {
  readonly kind: AnswerKind
  readonly status: number
  /** Names and values in turn, as `writeHead` takes them; neither length nor date. */
  readonly headers: readonly string[]
  /** What the answer used by the sandbox's own count; absent where nothing is used. */
  readonly usage?: SandboxUsage
}

export interface BodyAnswer extends AnswerBase {
  readonly body: string
  /** The counts as they stand in the body. */
  readonly wireUsage?: unknown
}

export interface StreamAnswer extends AnswerBase {
  /** Makes the frames afresh at each call, always the same. */
  readonly frames: () => Iterable<Frame>
}

export type Answer = BodyAnswer | StreamAnswer

export function isStreamAnswer(answer: Answer): answer is StreamAnswer {
  return 'frames' in answer
}

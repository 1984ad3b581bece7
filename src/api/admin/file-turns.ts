/**
 * Turns of large bodies: of a token one is under way at a time, from its first large part until its request
 * is over, and of all tokens a few, because each needs much memory.
 */
import type { ServerResponse } from 'node:http'
import { refuse, type Refusal } from '../../base/errors.ts'

/** Those that are received or read. */
const runningMax = 2
/** Of one token, with the one that runs. */
const perTokenMax = 4

const busy = refuse(
  'relay.overloaded',
  'Other large bodies are under way. Try again when they are done.',
  { 'retry-after': '5' },
)

export class FileTurns {
  /** By token: when its last large body is over, and how many there are. */
  readonly #tokens = new Map<string, { count: number; last: Promise<unknown> }>()
  #runningCount = 0

  /** Resolves when the request may go on, which it may until `outgoing` has closed. */
  async take(tokenId: string, outgoing: ServerResponse): Promise<Refusal | undefined> {
    const token = this.#tokens.get(tokenId) ?? { count: 0, last: Promise.resolve() }
    if (token.count >= perTokenMax || outgoing.closed) return busy
    const before = token.last
    // A closed response would never say that it is over.
    const isOver = new Promise<void>((resolve) => outgoing.once('close', () => resolve()))
    this.#tokens.set(tokenId, token)
    token.count++
    token.last = Promise.all([before, isOver]).finally(() => {
      token.count--
      if (token.count === 0) this.#tokens.delete(tokenId)
    })
    await Promise.race([before, isOver])
    if (outgoing.closed || this.#runningCount >= runningMax) return busy
    this.#runningCount++
    void isOver.then(() => this.#runningCount--)
    return undefined
  }
}

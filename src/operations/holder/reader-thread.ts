/**
 * The thread that reads for account holders, on a connection for itself and with a low priority. A question
 * gets one piece of an answer; a begun answer waits here for the next question, or for its stop.
 */
import { workerData } from 'node:worker_threads'
import { systemClock } from '../../base/clock.ts'
import { invariant } from '../../base/errors.ts'
import { answerQuestions, lowerPriority } from '../../base/thread.ts'
import type { Database } from '../../storage/database.ts'
import { openStore } from '../../storage/open.ts'
import { contextOn } from '../context.ts'
import { holderEndpoints } from './endpoints.ts'
import type { BeginQuestion, HolderPiece, HolderQuestion, ReaderData } from './reader.ts'

/** Enough to keep a connection busy while the next piece is made. */
const pieceLengthMin = 65_536

const { store, taxThousandths } = workerData as ReaderData
const encoder = new TextEncoder()
const begun = new Map<number, PiecewiseAnswer>()
let opening: Promise<Database> | undefined

lowerPriority()
answerQuestions(answer, (piece) => (piece.kind === 'piece' ? [piece.bytes.buffer] : []))

async function answer(question: HolderQuestion): Promise<HolderPiece> {
  if (question.kind === 'begin') begun.set(question.id, new PiecewiseAnswer(question))
  const answering = begun.get(question.id)
  if (question.kind === 'stop' || answering === undefined) {
    begun.delete(question.id)
    answering?.stop()
    return { kind: 'stopped' }
  }
  const piece = await answering.next()
  if (piece.kind !== 'piece' || piece.isLast) begun.delete(question.id)
  return piece
}

/** Where the store does not open, the next question tries again. */
async function open(): Promise<Database> {
  try {
    return await (opening ??= openStore(store))
  } catch (error) {
    opening = undefined
    throw error
  }
}

/** Ends the work for an answer that is not wanted any more. */
const stopped = new Error('the answer is not wanted any more')

/** An answer whose writer waits between two pieces. */
class PiecewiseAnswer {
  readonly #question: BeginQuestion
  #text = ''
  #asked = Promise.withResolvers<HolderPiece>()
  #wanted: PromiseWithResolvers<void> | undefined
  #hasBegun = false

  constructor(question: BeginQuestion) {
    this.#question = question
  }

  next(): Promise<HolderPiece> {
    this.#asked = Promise.withResolvers()
    this.#wanted?.resolve()
    if (!this.#hasBegun) void this.#work()
    this.#hasBegun = true
    return this.#asked.promise
  }

  stop(): void {
    this.#wanted?.reject(stopped)
  }

  async #work(): Promise<void> {
    try {
      const outcome = await this.#read()
      this.#asked.resolve(outcome.kind === 'refusal' ? outcome : this.#takePiece(true))
    } catch (error) {
      const failure = error instanceof Error ? error : new Error('the read failed')
      this.#asked.resolve({ kind: 'failed', error: failure })
    }
  }

  async #read() {
    const { path, nowMs, actor, member, held, ...asked } = this.#question
    const endpoint = holderEndpoints.get(path)
    invariant(endpoint !== undefined, 'the path is one of the endpoints')
    const context = contextOn(await open(), {
      actor,
      taxThousandths,
      ...(member !== undefined && { member }),
      clock: { ...systemClock, now: () => nowMs },
      readHeld: () => Promise.resolve(held),
    })
    return endpoint.write(context, asked, (text) => this.#write(text))
  }

  async #write(text: string): Promise<void> {
    this.#text += text
    if (this.#text.length < pieceLengthMin) return
    this.#wanted = Promise.withResolvers()
    this.#asked.resolve(this.#takePiece(false))
    await this.#wanted.promise
  }

  #takePiece(isLast: boolean): HolderPiece {
    const bytes = encoder.encode(this.#text)
    this.#text = ''
    return { kind: 'piece', bytes, isLast }
  }
}

/**
 * Answers that are written while they are read. Invariants: an answer that cannot go on ends its connection,
 * so it never looks complete; a client that reads slowly keeps no other question waiting, because each answer
 * has a connection to the store for itself.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { HttpBindings } from '@hono/node-server'
import { refuse, type Refusal } from '../../base/errors.ts'
import type { StreamEndpoint } from '../../operations/endpoint.ts'
import type { OperationContext, OperationRefusal } from '../../operations/operation.ts'

/** The beginning of an answer; `pieces` is undefined where only the head was asked for. */
interface BegunStream {
  readonly kind: 'begun'
  readonly pieces: ReadableStream<Uint8Array<ArrayBuffer>> | undefined
}

export interface StreamParts {
  /** Opens the store once more. */
  readonly openStore: () => Promise<OperationContext['database']>
  readonly onFault: (error: unknown) => void
}

export interface StreamQuestion {
  readonly row: StreamEndpoint
  readonly context: OperationContext
  readonly input: unknown
}

/** Answers that are under way at the same time. */
const streamsMax = 2

const tooMany = refuse(
  'relay.overloaded',
  `${streamsMax} statements, reports or lists are being read already. Try again when one is complete.`,
  { 'retry-after': '5' },
)

/** A line of a statement takes tens of microseconds. */
const piecesPerTurn = 50

/** Ends the work of a HEAD request at its first piece of text. */
const headIsEnough = new Error('only the head was asked for')

type Begun = BegunStream | Refusal | OperationRefusal

export class Streams {
  readonly #parts: StreamParts
  #runningCount = 0

  constructor(parts: StreamParts) {
    this.#parts = parts
  }

  /** Resolves with the first piece of text: until then the operation may refuse. Rejects on a fault. */
  async begin(question: StreamQuestion, { incoming, outgoing }: HttpBindings): Promise<Begun> {
    if (this.#runningCount >= streamsMax) return tooMany
    const isHead = incoming.method === 'HEAD'
    const text = new TransformStream<string, string>()
    const writer = text.writable.getWriter()
    const begun = Promise.withResolvers<Begun>()
    let hasBegun = false
    let pieces = 0
    const write = async (piece: string): Promise<void> => {
      if (!hasBegun) {
        hasBegun = true
        const pieces = isHead ? undefined : text.readable.pipeThrough(new TextEncoderStream())
        begun.resolve({ kind: 'begun', pieces })
      }
      if (isHead) throw headIsEnough
      await writer.write(piece)
      // The next pieces of a page of the store are there already.
      if (++pieces % piecesPerTurn === 0) await nextTurn()
    }
    const work = async (): Promise<void> => {
      try {
        const refusal = await this.#run(question, write)
        if (refusal === undefined) await writer.close()
        else if (hasBegun) throw new Error(refusal.message)
        else begun.resolve(refusal)
      } catch (error) {
        if (!hasBegun) begun.reject(error)
        else if (error !== headIsEnough) this.#breakOff(outgoing, error)
      }
    }
    void work()
    return begun.promise
  }

  async #run(
    { row, context, input }: StreamQuestion,
    write: (piece: string) => Promise<void>,
  ): Promise<OperationRefusal | undefined> {
    this.#runningCount++
    try {
      const database = await this.#parts.openStore()
      try {
        const outcome = await row.stream({ ...context, database }, input, write)
        return outcome.kind === 'refusal' ? outcome : undefined
      } finally {
        await database.close()
      }
    } finally {
      this.#runningCount--
    }
  }

  /** Where the client has left, its connection is gone already, and nothing is wrong. */
  #breakOff(outgoing: HttpBindings['outgoing'], error: unknown): void {
    if (outgoing.destroyed) return
    this.#parts.onFault(error)
    outgoing.destroy()
  }
}

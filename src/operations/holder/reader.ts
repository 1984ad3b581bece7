/**
 * Reads for account holders, on one thread for all of them: it reads, calculates and writes texts, and takes
 * turns between accounts after each piece, so that no statement keeps clients, operators or another holder
 * waiting.
 */
import type { Clock } from '../../base/clock.ts'
import { GatewayError } from '../../base/errors.ts'
import type { Picos } from '../../base/money.ts'
import { SharedThread } from '../../base/shared-thread.ts'
import { restored, startService } from '../../base/thread.ts'
import type { OperationContext, OperationRefusal } from '../operation.ts'
import type { HolderInput } from './endpoints.ts'

/** What an endpoint is asked. */
export interface HolderAsked extends HolderInput {
  /** As `holderEndpoints` names it. */
  readonly path: string
  /** The id of the token or the member. */
  readonly actor: string
  /** The member who asks; absent for a token. */
  readonly member?: OperationContext['member']
}

export interface BeginQuestion extends HolderAsked {
  readonly kind: 'begin'
  readonly id: number
  readonly nowMs: number
  readonly held: ReadonlyMap<string, Picos>
}

export type HolderQuestion = BeginQuestion | { readonly kind: 'more' | 'stop'; readonly id: number }

export type HolderPiece =
  | { readonly kind: 'piece'; readonly bytes: Uint8Array<ArrayBuffer>; readonly isLast: boolean }
  | OperationRefusal
  | { readonly kind: 'failed'; readonly error: Error }
  /** It is not known any more. */
  | { readonly kind: 'stopped' }

/** A piece of an answer. */
export interface ReadPiece {
  readonly kind: 'piece'
  readonly bytes: Buffer
  readonly isLast: boolean
}

/** An answer, piece by piece. */
export interface HolderReading {
  /** Rejects where the store does not answer, or on a fault; only the first piece may be a refusal. */
  next(): Promise<ReadPiece | OperationRefusal>
  /** Ends the work for it. Call it where the last piece has not come. */
  stop(): void
}

export interface HolderReader {
  read(asked: HolderAsked): HolderReading
  close(): Promise<void>
}

/** What the thread knows from its beginning. */
export interface ReaderData {
  /** The `store` setting. */
  readonly store: string
  readonly taxThousandths: number
}

export interface HolderReaderParts extends ReaderData {
  readonly clock: Clock
  readonly readHeld: NonNullable<OperationContext['readHeld']>
  /** Called once for each thread that died unexpectedly. */
  readonly onThreadLost: (error: unknown) => void
}

/** A few pages of the store and some texts for each of the answers that are under way. */
const heapMbMax = 256

export function createHolderReader(parts: HolderReaderParts): HolderReader {
  const { clock, store, taxThousandths, readHeld, onThreadLost: onLost } = parts
  const thread = new SharedThread<HolderQuestion, HolderPiece>({
    clock,
    onLost,
    open: (onThreadEnd) =>
      startService(new URL('./reader-thread.ts', import.meta.url), {
        data: { store, taxThousandths } satisfies ReaderData,
        heapMbMax,
        onLost: onThreadEnd,
      }),
  })
  let lastId = 0

  async function ask(
    accountId: string,
    prepare: () => HolderQuestion | Promise<HolderQuestion>,
  ): Promise<ReadPiece | OperationRefusal> {
    const asking = async () => ({ question: await prepare(), moved: [] })
    const piece = (await thread.ask(accountId, asking)) ?? { kind: 'stopped' }
    if (piece.kind === 'failed') throw restored(piece.error)
    if (piece.kind === 'stopped')
      throw new GatewayError('ledger.unavailable', 'The store does not answer at the moment.')
    if (piece.kind === 'refusal') return piece
    const { buffer, byteOffset, byteLength } = piece.bytes
    return { ...piece, bytes: Buffer.from(buffer, byteOffset, byteLength) }
  }

  return {
    read(asked) {
      const { accountId } = asked
      const id = ++lastId
      let hasBegun = false
      return {
        next() {
          if (hasBegun) return ask(accountId, () => ({ kind: 'more', id }))
          hasBegun = true
          return ask(accountId, async () => {
            const held = await readHeld([accountId])
            return { kind: 'begin', id, nowMs: clock.now(), held, ...asked }
          })
        },
        stop() {
          if (hasBegun) ask(accountId, () => ({ kind: 'stop', id })).catch(() => undefined)
        },
      }
    },
    close: () => thread.close(),
  }
}

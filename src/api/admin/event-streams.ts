/**
 * The live feed as server-sent events. Invariants: a reader that does not read costs a bounded number of
 * bytes, and its connection is closed; one that reads gets the end of its answer when the gateway stops.
 */
import { once } from 'node:events'
import type { HttpBindings } from '@hono/node-server'
import type { Refusal } from '../../base/errors.ts'
import type { EventFeed, Listening } from '../../operations/events/feed.ts'
import type { WatchedList } from '../../operations/events/lists.ts'

/** Bytes that may wait for a reader. */
const waitingBytesMax = 64 * 1024
/** How long a browser waits before it connects again. */
const retryMs = 2_000

export type EventBytes = ReadableStream<Uint8Array<ArrayBuffer>>

interface Reader {
  readonly tokenId: string
  /** Whether its token may still read. */
  readonly isAllowed: () => Promise<boolean>
  /** The answer that the body is sent with. */
  readonly outgoing: HttpBindings['outgoing']
}

/**
 * Resolves with the answer's body when its first bytes are there. Rejects where the store does not answer.
 */
export async function openEventStream(
  feed: Pick<EventFeed, 'listen'>,
  { tokenId, isAllowed, outgoing }: Reader,
): Promise<{ readonly kind: 'begun'; readonly body: EventBytes } | Refusal> {
  const encoder = new TextEncoder()
  const begun = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>>()
  /** The feed may end the reader before it has answered. */
  const place: { listening?: Listening | undefined } = {}
  let isOver = false
  const stop = (): void => {
    isOver = true
    place.listening?.stop()
  }
  const body: EventBytes = new ReadableStream(
    { start: begun.resolve, cancel: stop },
    new ByteLengthQueuingStrategy({ highWaterMark: waitingBytesMax }),
  )
  const controller = await begun.promise
  const write = (text: string): void => {
    if (isOver) return
    const bytes = encoder.encode(text)
    if (bytes.length <= (controller.desiredSize ?? 0)) return controller.enqueue(bytes)
    stop()
    outgoing.destroy()
  }
  const end = async (): Promise<void> => {
    if (isOver) return
    isOver = true
    const isWaiting = (controller.desiredSize ?? 0) < waitingBytesMax || outgoing.writableLength > 0
    if (isWaiting) return void outgoing.destroy()
    const closed = once(outgoing, 'close')
    controller.close()
    if (!outgoing.destroyed) await closed
  }
  write(`retry: ${retryMs}\n\n`)
  const listening = await feed.listen({
    tokenId,
    isAllowed,
    onChanged: (lists) => write(lists.map(printChanged).join('')),
    onQuiet: () => write(': no news\n\n'),
    onEnd: end,
  })
  if ('code' in listening) return listening
  place.listening = listening
  if (isOver) stop()
  return { kind: 'begun', body }
}

function printChanged(list: WatchedList): string {
  return `event: changed\ndata: ${JSON.stringify({ list })}\n\n`
}

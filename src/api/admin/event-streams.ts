/**
 * The live feed as server-sent events. Invariants: a reader that does not read costs a bounded number of
 * bytes, and its connection is closed; one that reads gets the end of its answer when the gateway stops.
 */
import { once } from 'node:events'
import type { HttpBindings } from '@hono/node-server'
import { refuse, type Refusal } from '../../base/errors.ts'
import { listenersMax, type EventFeed, type Listening } from '../../operations/events/feed.ts'
import {
  eventKinds,
  gapsOf,
  type EventKind,
  type FeedEvent,
} from '../../operations/events/event.ts'
import type { FeedInput } from '../../operations/events/input.ts'

/** Bytes that may wait for a reader. */
const waitingBytesMax = 2 * 1024 * 1024
/**
 * Events that a reader has missed may have this many bytes. With more it may not have read them when
 * the next ones come; then it would lose its connection and get the same events again.
 */
const missedBytesMax = 512 * 1024
/** How long a browser waits before it connects again. */
const retryMs = 2_000

const tooMany = refuse(
  'relay.overloaded',
  `This gateway cannot send events to another reader: it stops, or ${listenersMax} are reading already. Try again later, or at another gateway.`,
  { 'retry-after': '5' },
)

export type EventBytes = ReadableStream<Uint8Array<ArrayBuffer>>

interface Reader {
  readonly input: FeedInput
  /** Whether its token may still read. */
  readonly isAllowed: () => Promise<boolean>
}

/**
 * Resolves with the answer's body when its first bytes are there. Rejects where the store does not answer.
 */
export async function openEventStream(
  feed: EventFeed,
  { input, isAllowed }: Reader,
  outgoing: HttpBindings['outgoing'],
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
  let preface = `retry: ${retryMs}\n`
  place.listening = await feed.listen({
    kinds: input.kinds ?? new Set<EventKind>(eventKinds),
    after: input.after,
    isAllowed,
    onEvents(events, cursor) {
      const bytesMax = preface === '' ? waitingBytesMax : missedBytesMax
      write(preface + printWithin(bytesMax, events, cursor))
      preface = ''
    },
    onQuiet: () => write(': no news\n\n'),
    onEnd: end,
  })
  if (place.listening === undefined) return tooMany
  if (isOver) stop()
  return { kind: 'begun', body }
}

/** Prints gaps in place of events that are too large together. */
function printWithin(bytesMax: number, events: readonly FeedEvent[], cursor: string): string {
  const text = printEvents(events, cursor)
  return Buffer.byteLength(text) <= bytesMax ? text : printEvents(gapsOf(events), cursor)
}

/** The id comes with the last event, so that who breaks off in the middle gets all of them again. */
function printEvents(events: readonly FeedEvent[], cursor: string): string {
  if (events.length === 0) return `id: ${cursor}\n\n`
  const blocks = events.map(({ name, data }) => `event: ${name}\ndata: ${JSON.stringify(data)}\n`)
  return `${blocks.join('\n')}id: ${cursor}\n\n`
}

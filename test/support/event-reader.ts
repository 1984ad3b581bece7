/**
 * Reads server-sent events of the admin API from a real connection, and waits for the one that a test
 * names.
 */
import { get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { WatchedList } from '../../src/operations/events/lists.ts'

export interface ReadEvent {
  readonly name: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface EventConnection {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** All events so far. */
  readonly events: readonly ReadEvent[]
  /** Resolves with the first event that fits, among those that have come and those that will. */
  next(fits: (event: ReadEvent) => boolean): Promise<ReadEvent>
  /** Resolves when the answer is over: `true` where it is complete. */
  readonly ended: Promise<boolean>
  close(): void
}

/** Fits the events that say that this list has changed. */
export const saysChanged =
  (list: WatchedList) =>
  ({ data }: ReadEvent): boolean =>
    data['list'] === list

/** Resolves when the first bytes are there, or with the head of an answer that is none of events. */
export async function openEvents(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<EventConnection> {
  const request = get(url, { headers, agent: false })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  const events: ReadEvent[] = []
  const waiting = new Set<() => void>()
  let rest = ''
  const begun = Promise.withResolvers<void>()
  const ended = new Promise<boolean>((resolve) => {
    answer.on('close', () => resolve(answer.complete))
  })
  void ended.then(() => begun.resolve())
  answer.on('error', () => undefined)
  answer.setEncoding('utf8').on('data', (piece: string) => {
    const blocks = (rest + piece).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line): [string, string] => {
          const colon = line.indexOf(':')
          return [line.slice(0, colon), line.slice(colon + 1).trimStart()]
        }),
      )
      const data = fields.get('data')
      if (data !== undefined)
        events.push({
          name: fields.get('event') ?? 'message',
          data: JSON.parse(data) as ReadEvent['data'],
        })
    }
    begun.resolve()
    for (const look of waiting) look()
  })
  await begun.promise
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    events,
    next: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = events.find(fits)
          if (found === undefined) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
      }),
    ended,
    close: () => void request.destroy(),
  }
}

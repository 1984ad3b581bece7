/**
 * A command's run: it calls endpoints' operations on the store of this host, or through the admin API of a
 * server, with the same outcome. A command does not know which.
 */
import type { Endpoint, StreamEndpoint } from '../operations/endpoint.ts'
import type { WriteText } from '../operations/list-text.ts'
import type { Outcome } from '../operations/operation.ts'
import type { Page } from '../operations/paging.ts'
import { backupStore, type BackupView } from '../operations/store/backup.ts'
import { findServer } from './place.ts'
import { backupFrom } from './remote/backup.ts'
import { callServer, streamServer, type ServerPlace } from './remote/server.ts'
import { withStore, type Given, type StoreUse } from './store-run.ts'

export interface Run extends Given {
  /** Calls the operation of an endpoint. */
  readonly call: <Value>(endpoint: Endpoint<Value>, input: object) => Promise<Outcome<Value>>
  /** Reads all pages of a list, or its first `countMax` items. */
  readonly callAll: <Item>(
    endpoint: Endpoint<Page<Item>>,
    input?: object,
    countMax?: number,
  ) => Promise<Outcome<readonly Item[]>>
  /** Writes the answer of an endpoint while it is read. */
  readonly stream: (
    endpoint: StreamEndpoint,
    input: object,
    write: WriteText,
  ) => Promise<Outcome<void>>
  /** Copies the store to a new file on this machine. */
  readonly backup: (given: { readonly file: string }) => Promise<Outcome<BackupView>>
}

/** What a place can do; all else is the same everywhere. */
type Calls = Pick<Run, 'call' | 'stream' | 'backup'>

/** Runs `work` where the command line or the environment says. */
export async function withRun<Value>(
  given: Given,
  use: StoreUse,
  work: (run: Run) => Promise<Value>,
): Promise<Value> {
  const server = findServer(given.options)
  const runWith = (calls: Calls): Promise<Value> => {
    const callAll: Run['callAll'] = (endpoint, input = {}, countMax = Infinity) =>
      readPages(calls.call, endpoint, { input, countMax })
    return work({ ...given, ...calls, callAll })
  }
  if (server !== undefined) return runWith(serverCalls(server))
  return withStore(given, use, ({ context }) =>
    runWith({
      call: (endpoint, input) => endpoint.operation(context, { ...input, ...endpoint.fixed }),
      stream: (endpoint, input, write) =>
        endpoint.stream(context, { ...input, ...endpoint.fixed }, write),
      backup: (asked) => backupStore(context, asked),
    }),
  )
}

function serverCalls(place: ServerPlace): Calls {
  return {
    call: (endpoint, input) => callServer(place, endpoint, input),
    stream: (endpoint, input, write) => streamServer(place, endpoint, input, write),
    backup: (asked) => backupFrom(place, asked),
  }
}

async function readPages<Item>(
  call: Run['call'],
  endpoint: Endpoint<Page<Item>>,
  { input, countMax }: { readonly input: object; readonly countMax: number },
): Promise<Outcome<readonly Item[]>> {
  const items: Item[] = []
  let cursor: string | null = null
  do {
    const outcome: Outcome<Page<Item>> = await call(endpoint, {
      ...input,
      limit: Math.min(itemsPerPage, countMax - items.length),
      ...(cursor !== null && { cursor }),
    })
    if (outcome.kind === 'refusal') return outcome
    items.push(...outcome.value.items)
    cursor = outcome.value.next_cursor
  } while (cursor !== null && items.length < countMax)
  return { kind: 'done', value: items }
}

const itemsPerPage = 1_000

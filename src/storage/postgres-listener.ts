/**
 * Listens on a connection of its own for what triggers say about table `revision`. A hint only: when
 * the connection is lost a new one is made after a while, and whoever relies on the hints polls too.
 * Behind a pooler there is no session to listen in, and nothing is done.
 */
import { systemClock, type Timer } from '../base/clock.ts'
import { connectPostgres, type PostgresConnection } from './postgres-connection.ts'
import type { PostgresLocation } from './postgres-location.ts'

export interface ListenOptions {
  readonly location: PostgresLocation
  readonly hint: () => void
}

const reconnectMs = 1_000
const answerTimeoutMs = 10_000

export function listenForRevisions(options: ListenOptions): { close(): void } {
  const { location, hint } = options
  let connection: PostgresConnection | undefined
  let timer: Timer | undefined
  let isClosed = false

  async function connect(): Promise<void> {
    const opened = await connectPostgres(location, { answerTimeoutMs })
    connection = opened.connection
    if (isClosed || connection.isPooled) {
      await connection.close()
      return
    }
    connection.onEnd(connectLater)
    connection.onNotification(hint)
    await connection.query('LISTEN turnpike_revision')
    // What was said before is not heard any more.
    hint()
  }

  function connectLater(): void {
    if (isClosed) return
    timer?.cancel()
    // What keeps it from connecting is told by everything else that uses the store.
    timer = systemClock.after(reconnectMs, () => void connect().catch(connectLater))
  }

  void connect().catch(connectLater)
  return {
    close() {
      isClosed = true
      timer?.cancel()
      connection?.destroy()
    },
  }
}

/**
 * Sees every request that reaches one HTTP server of this process, through Node's own diagnostics:
 * how often a client really tried, with which headers, and what it was answered. It changes nothing.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly atMs: number
  /** Undefined until the answer has been handed over whole. */
  status: number | undefined
}

export interface RequestWatch {
  readonly requests: readonly SeenRequest[]
  /** Called in the turn in which an answer has been handed over. */
  onAnswered: ((request: SeenRequest) => void) | undefined
  stop(): void
}

const startChannel = 'http.server.request.start'
const finishChannel = 'http.server.response.finish'

interface ServerMessage {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

export function watchRequests(port: number): RequestWatch {
  const requests: SeenRequest[] = []
  const byMessage = new WeakMap<IncomingMessage, SeenRequest>()
  const onStart = (message: unknown): void => {
    const { request } = message as ServerMessage
    if (request.socket.localPort !== port) return
    const { method = '', url = '', headers } = request
    const seen = { method, url, headers, atMs: performance.now(), status: undefined }
    byMessage.set(request, seen)
    requests.push(seen)
  }
  const onFinish = (message: unknown): void => {
    const { request, response } = message as ServerMessage
    const seen = byMessage.get(request)
    if (seen === undefined) return
    seen.status = response.statusCode
    watch.onAnswered?.(seen)
  }
  const watch: RequestWatch = {
    requests,
    onAnswered: undefined,
    stop() {
      unsubscribe(startChannel, onStart)
      unsubscribe(finishChannel, onFinish)
    },
  }
  subscribe(startChannel, onStart)
  subscribe(finishChannel, onFinish)
  return watch
}

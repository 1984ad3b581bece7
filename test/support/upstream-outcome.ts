/** What one request through the pools comes to: `end` with its body, or the kind of its failure. */
import { requestLines } from '../../src/http/wire/head-lines.ts'
import type { UpstreamPools } from '../../src/http/client/pool.ts'
import type { UpstreamRequest, UpstreamTarget } from '../../src/http/client/upstream.ts'

export function outcomeOf(
  upstream: UpstreamPools,
  target: UpstreamTarget,
  sent?: Buffer,
): Promise<{ readonly kind: string; readonly body: string }> {
  return new Promise((resolve) => {
    let body = ''
    const method = sent === undefined ? 'GET' : 'POST'
    const request: UpstreamRequest = {
      method,
      path: '/v1/models',
      headers: requestLines(),
      body: sent,
    }
    upstream.send(target, request, {
      onHead: () => undefined,
      onBytes(bytes, start, end) {
        body += bytes.toString('latin1', start, end)
        return true
      },
      onEnd: () => resolve({ kind: 'end', body }),
      onFailure: ({ kind }) => resolve({ kind, body }),
    })
  })
}

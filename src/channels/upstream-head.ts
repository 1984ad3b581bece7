/**
 * The head of a vendor's answer as the relay sees it: headers by name without an index of them,
 * because few are ever asked for.
 */
import { isNamed } from '../http/wire/field-syntax.ts'
import type { ResponseHead } from '../http/wire/response-head.ts'
import type { UpstreamHead } from './upstream.ts'

export class ReceivedHead implements UpstreamHead {
  readonly status: number
  readonly rawHeaders: readonly string[]

  constructor(head: ResponseHead) {
    this.status = head.status
    this.rawHeaders = head.rawHeaders
  }

  header(name: string): string | undefined {
    const { rawHeaders } = this
    for (let index = 0; index < rawHeaders.length; index += 2)
      if (isNamed(rawHeaders[index] ?? '', name)) return rawHeaders[index + 1]
    return undefined
  }
}

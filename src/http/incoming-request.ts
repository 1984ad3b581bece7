/** A well-formed request as the rest of the program sees it: what was sent, and its body to come. */
import type { IncomingBody } from './incoming-body.ts'
import { isNamed } from './wire/field-syntax.ts'
import type { RequestHead } from './wire/request-head.ts'

export class IncomingRequest {
  readonly method: string
  /** The request target as sent. */
  readonly target: string
  /** Flat list as received, names as received. */
  readonly rawHeaders: readonly string[]
  /** The client sends its body only when invited. */
  readonly awaitsInvitation: boolean
  readonly body: IncomingBody
  /** Where the client's connection comes from. */
  readonly remoteAddress: string | undefined

  constructor(head: RequestHead, body: IncomingBody, remoteAddress: string | undefined) {
    this.method = head.method
    this.target = head.target
    this.rawHeaders = head.rawHeaders
    this.awaitsInvitation = head.awaitsInvitation
    this.body = body
    this.remoteAddress = remoteAddress
  }

  /** By lower-case name; a header sent several times gives its values joined by commas. */
  header(name: string): string | undefined {
    const { rawHeaders } = this
    let value: string | undefined
    for (let index = 0; index < rawHeaders.length; index += 2) {
      if (!isNamed(rawHeaders[index] ?? '', name)) continue
      const one = rawHeaders[index + 1] ?? ''
      value = value === undefined ? one : `${value}, ${one}`
    }
    return value
  }
}

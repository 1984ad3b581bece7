/**
 * Whose address a request counts for. Only a trusted proxy's word about its client is believed; of all other
 * peers the connection's own address counts, whatever they send.
 */
import type { BlockList } from 'node:net'
import { addressGroup, isInRanges } from '../../base/ip-address.ts'
import type { Fields } from '../wire/fields.ts'
import { findForwardingHeader, hopsIn, type ForwardingHeader } from '../wire/forwarding-header.ts'

/** The other end of a connection, or the one that a trusted proxy names in its PROXY line. */
export interface Peer {
  /** Undefined where the connection had ended before it was accepted. */
  readonly address: string | undefined
  readonly isTrusted: boolean
  /** What its connections are counted by; undefined for a trusted proxy, whose clients are many. */
  readonly group: string | undefined
}

export interface ClientAddressOptions {
  /** Addresses of proxies; undefined = none is trusted. */
  readonly trusted: BlockList | undefined
  /** The one header that is read. */
  readonly header: ForwardingHeader
  /** Called once for each peer that forwards and is not trusted, up to a bound. */
  readonly onUnlistedProxy: (address: string, how: string) => void
}

/** Clients may send such headers too, so a list of all of them would not help. */
const unlistedMax = 100

export class ClientAddresses {
  readonly #options: ClientAddressOptions
  readonly #unlisted = new Set<string>()

  constructor(options: ClientAddressOptions) {
    this.#options = options
  }

  peer(address: string | undefined): Peer {
    const isTrusted = this.#isTrusted(address)
    const isCounted = address !== undefined && !isTrusted
    return { address, isTrusted, group: isCounted ? addressGroup(address) : undefined }
  }

  /** Finds the address for a request: the nearest one to the gateway that is not a trusted proxy's. */
  find({ address: peerAddress, isTrusted }: Peer, fields: Fields) {
    if (!isTrusted) {
      const how = findForwardingHeader(fields)
      if (how !== undefined) this.noteUnlisted(peerAddress, how)
      return peerAddress
    }
    let address = peerAddress
    for (const hop of hopsIn(fields, this.#options.header)) {
      // The text left of it may be a client's invention.
      if (hop === undefined) return address
      address = hop
      if (!this.#isTrusted(hop)) return address
    }
    return address
  }

  #isTrusted(address: string | undefined): boolean {
    const { trusted } = this.#options
    return trusted !== undefined && isInRanges(trusted, address)
  }

  /** Reports a peer that forwards although it is not trusted. */
  noteUnlisted(address: string | undefined, how: string): void {
    if (address === undefined || this.#unlisted.size >= unlistedMax) return
    if (this.#unlisted.has(address)) return
    this.#unlisted.add(address)
    this.#options.onUnlistedProxy(address, how)
  }
}

/**
 * How a request reaches the vendor of a channel: the path, the query and the headers that the channel's entry
 * in the catalogue makes of the client's. Pure; no body is touched.
 */
import { withFixedHeaders, withoutBetas } from '../formats/channel-headers.ts'
import type { FormatName } from '../formats/format.ts'
import { forwardRequestHeaders } from '../formats/headers.ts'
import type { Fields } from '../http/wire/fields.ts'
import type { HeadLines } from '../http/wire/head-lines.ts'
import type { Channel, Vendor } from './channel.ts'

export interface Asked {
  readonly fields: Fields
  /** The canonical path of the endpoint: `/v1/messages`. */
  readonly path: string
  /** The client's raw query with its question mark, or empty. */
  readonly query: string
  readonly format: FormatName
}

export interface Reach {
  /** Path and query behind the channel's address. */
  readonly path: string
  readonly headers: HeadLines
  /** Betas of the client that the vendor does not know. Absent = none. */
  readonly droppedBetas?: readonly string[]
}

export function reachOf(channel: Channel, vendor: Vendor, asked: Asked): Reach {
  const { query, dropBetas } = channel
  const base = asked.format === vendor.format ? channel.path : (channel.chatPath ?? channel.path)
  const path = pathOn(base, asked.path) + queryOn(query, asked.query)
  const headers = headersOn(channel, vendor, asked)
  if (dropBetas.length === 0) return { path, headers }
  const { headers: kept, dropped } = withoutBetas(headers, dropBetas)
  return dropped.length === 0 ? { path, headers } : { path, headers: kept, droppedBetas: dropped }
}

function headersOn(channel: Channel, vendor: Vendor, asked: Asked): HeadLines {
  const headers = forwardRequestHeaders(asked.fields, {
    prefix: vendor.name,
    credential: { form: channel.credentialForm ?? vendor.credential, secret: channel.credential },
    versionHeader: vendor.versionHeader,
    defaultVersion: vendor.defaultVersion,
  })
  return channel.headers.size === 0 ? headers : withFixedHeaders(headers, channel.headers)
}

/** Every endpoint's path begins with it. */
const canonicalBase = '/v1'

/** Returns the path of an endpoint below another base path. */
export function pathOn(base: string, path: string): string {
  return base === canonicalBase ? path : base + path.slice(canonicalBase.length)
}

/** Returns the client's query with these parameters in place of its parameters of the same names. */
export function queryOn(fixed: ReadonlyMap<string, string>, query: string): string {
  if (fixed.size === 0) return query
  const parts = query.slice(1).split('&')
  const kept = parts.filter((part) => part !== '' && !fixed.has(nameOf(part)))
  const own = [...fixed].map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `?${[...kept, ...own].join('&')}`
}

/** Returns the name of a parameter as a server reads it. */
function nameOf(part: string): string {
  return new URLSearchParams(part).keys().next().value ?? ''
}

/** Whether both reach their vendor in the same way: then knowledge of one is true of the other. */
export function isSameUpstream(one: Channel, other: Channel): boolean {
  return one === other || textOf(one) === textOf(other)
}

function textOf(channel: Channel): string {
  const { url, path, chatPath, proxy, query, headers, credential, credentialForm } = channel
  const sent = [...headers].map(([name, value]) => [name, value.reveal()])
  return JSON.stringify([
    url,
    path,
    chatPath,
    proxy?.reveal(),
    [...query],
    sent,
    credential.reveal(),
    credentialForm,
  ])
}

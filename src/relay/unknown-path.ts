/**
 * The refusals of paths that the gateway does not serve. Most such requests come from a base address with the
 * wrong vendor or without one, or from an SDK that is set to another of the vendor's APIs. So the message
 * says what to change, in the shape that the SDK reads. Pure.
 */
import { refuse, type Refusal } from '../base/errors.ts'
import type { Snapshot } from '../channels/channel.ts'
import type { Format, Operation } from '../formats/format.ts'
import { findFormats } from '../formats/registry.ts'
import type { Found } from '../http/server/router.ts'
import type { Incoming } from './stages.ts'
import { printable } from './served-models.ts'

export interface PathRefusal {
  readonly refusal: Refusal
  /** The format of the client that sent the request. */
  readonly format: Format
}

/** The refusal of a path, or of a method on a path, below a vendor's prefix. */
export function pathRefusal(
  incoming: Incoming,
  found: Exclude<Found<Operation>, { kind: 'found' }>,
): PathRefusal {
  const { format, path, request } = incoming
  if (found.kind === 'path_unknown') return unknownPathRefusal(incoming)
  const { allow } = found
  const refusal =
    request.asksWebSocket && format.webSocketPaths.includes(path)
      ? refuse('http.websocket_not_served', `There is no WebSocket here. Use ${allow}.`, viaHttp)
      : refuse(
          'http.method_not_allowed',
          `Use ${allow} here. ${printable(request.method)} is not served at this path.`,
          { allow },
        )
  return { refusal, format }
}

/**
 * A 426 must name a protocol, and clients take it for the sign to send the request over HTTP at once. After
 * another status they try the WebSocket again for some seconds.
 */
const viaHttp = { upgrade: 'websocket' }

/** The refusal of an unknown path below a vendor's prefix. */
export function unknownPathRefusal({
  format,
  vendor,
  path,
  snapshot,
}: Pick<Incoming, 'format' | 'vendor' | 'path' | 'snapshot'>): PathRefusal {
  const others = findFormats(path)
  const other = others.includes(format) ? undefined : others.at(-1)
  const bases = other && baseAddresses(path, [other], snapshot)
  if (other === undefined || bases === undefined)
    return { refusal: notFound(unknownPathMessage(format, vendor.name)), format }
  const message = `/${vendor.name} serves the ${format.name} format, and this path is of the ${other.name} format: the base address ends in ${bases}.`
  return { refusal: notFound(message), format: other }
}

/** The refusal of a path without a vendor's prefix; undefined where no client calls such a path. */
export function prefixRefusal(path: string, snapshot: Snapshot): PathRefusal | undefined {
  const formats = findFormats(path)
  // Where both formats have this path: most such clients are of the chat format, which is the last one.
  const format = formats.at(-1)
  const bases = baseAddresses(path, formats, snapshot)
  if (format === undefined || bases === undefined) return undefined
  const message = `This path lacks its vendor: the base address ends in ${bases}.`
  return { refusal: notFound(message), format }
}

function notFound(message: string): Refusal {
  return refuse('http.not_found', message)
}

/** Undefined where the catalogue has no vendor of these formats. */
function baseAddresses(
  path: string,
  formats: readonly Format[],
  { vendors }: Snapshot,
): string | undefined {
  // Some clients of either format add no version to their base address.
  const addsVersion = path.startsWith('/v1/')
  const parts = formats.flatMap(({ name, basePath }) => {
    const behind = addsVersion ? basePath : '/v1'
    const served = [...vendors.values()].filter(({ format }) => format === name)
    const ends = served.map((vendor) => `"/${vendor.name}${behind}"`)
    return ends.length === 0 ? [] : [`${ends.join(' or ')} for most clients of the ${name} format`]
  })
  return parts.length === 0 ? undefined : parts.join(', and in ')
}

function unknownPathMessage(format: Format, vendor: string): string {
  const listed = format.operations.filter(
    ({ kind, path }) => kind !== 'warm_up' && !path.includes('*'),
  )
  const endpoints = listed.map(({ method, path }) => `${method} ${path}`).join(', ')
  const there = `Under /${vendor} there are: ${endpoints}.`
  return `This endpoint is not served here. ${there}`
}

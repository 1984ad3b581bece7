/**
 * What a supervisor and its gateways say to each other. The two may be of different versions after an update,
 * so each side parses what it receives, and a gateway of another protocol ends before it serves.
 */
import { z } from 'zod'
import { metricsReport } from '../telemetry/united-metrics.ts'

/** The variable in which a gateway finds its place. */
export const placeVariable = 'TURNPIKE_PROCESS_PLACE'

const protocol = 1

const place = z.strictObject({
  protocol: z.literal(protocol),
  /** From 1 on; a process that replaces another has the same number. */
  slot: z.int(),
  count: z.int(),
  /** File descriptors of the bound sockets. */
  listen: z.int(),
  adminListen: z.int(),
  /** Whether this process prints secrets that are shown once. */
  announces: z.boolean(),
})

type Place = z.output<typeof place>

export function writePlace(given: Omit<Place, 'protocol'>): string {
  return JSON.stringify({ protocol, ...given } satisfies Place)
}

/** Undefined where the supervisor is of another version and cannot run this one. */
export function readPlace(text: string): Place | undefined {
  try {
    return place.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

const namedReport = z.object({ process: z.string(), metrics: metricsReport })

/** To a gateway. */
export const order = z.discriminatedUnion('kind', [
  /** All processes end: refuse new requests, finish running ones, exit. */
  z.object({ kind: z.literal('drain') }),
  /** Another process has taken over: accept no more, finish running requests, exit. */
  z.object({ kind: z.literal('retire') }),
  /** Exit at once. */
  z.object({ kind: z.literal('end') }),
  z.object({ kind: z.literal('report'), id: z.int() }),
  /** The answer to `collect`. */
  z.object({
    kind: z.literal('collected'),
    id: z.int(),
    reports: z.array(namedReport),
    ended: metricsReport,
  }),
])
export type Order = z.output<typeof order>

/** From a gateway. */
export const notice = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  /** The answer to `report`; without an id the last words of a process. */
  z.object({ kind: z.literal('reported'), id: z.int().optional(), metrics: metricsReport }),
  /** Asks for the metrics of all processes. */
  z.object({ kind: z.literal('collect'), id: z.int() }),
])
export type Notice = z.output<typeof notice>

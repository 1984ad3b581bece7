/**
 * What the live feed tells: the kinds of event, and the cursor with which a reader goes on where it stopped.
 * A cursor has a position in each source; it is opaque to readers and holds on every gateway of the store.
 */

import { revisionAreas } from '../../storage/database.ts'

export const eventKinds = ['request', 'channel', 'action', 'alert', 'audit', 'changed'] as const
export type EventKind = (typeof eventKinds)[number]

/** The name of an event: its kind, or `gap` where events of a kind were left out. */
export type EventName = EventKind | 'gap'

export interface FeedEvent {
  readonly name: EventName
  /** Of a gap: the kind whose events were left out. */
  readonly kind: EventKind
  readonly data: object
}

/** `skipped` undefined = not counted. */
export function gapOf(kind: EventKind, skipped?: number): FeedEvent {
  return { name: 'gap', kind, data: { kind, skipped: skipped ?? null } }
}

/** Leaves all events out: one gap for each of their kinds. */
export function gapsOf(events: readonly FeedEvent[]): readonly FeedEvent[] {
  return [...new Set(events.map(({ kind }) => kind))].map((kind) => gapOf(kind))
}

/** The areas of the event `changed`. */
export const changedAreas = revisionAreas

/** What events are read from. */
const sourceNames = [
  'exchange',
  'free_exchange',
  'channel_change',
  'operator_action',
  'alert',
  'ledger_audit',
  ...revisionAreas,
] as const
export type SourceName = (typeof sourceNames)[number]

/** How far each source has been read: numbers of rows, or milliseconds for alerts. */
export type Positions = Readonly<Record<SourceName, number>>

/** Raised where positions get another meaning. */
const cursorVersion = 1

export function formatCursor(positions: Positions): string {
  const numbers = [cursorVersion, ...sourceNames.map((name) => positions[name])]
  return Buffer.from(numbers.join('.')).toString('base64url')
}

/** Undefined where the text is no cursor of this version. */
export function parseCursor(text: string): Positions | undefined {
  const plain = Buffer.from(text, 'base64url').toString('latin1')
  if (!/^\d{1,15}(\.\d{1,15})*$/.test(plain)) return undefined
  const [version, ...numbers] = plain.split('.').map(Number)
  if (version !== cursorVersion || numbers.length !== sourceNames.length) return undefined
  return positionsOf((_, index) => numbers[index] ?? 0)
}

export function positionsOf(read: (name: SourceName, index: number) => number): Positions {
  return Object.fromEntries(sourceNames.map((name, index) => [name, read(name, index)])) as Record<
    SourceName,
    number
  >
}

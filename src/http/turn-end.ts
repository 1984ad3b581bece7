/**
 * Writes to sockets at the end of the event loop's turn: first all that has come is read and worked
 * on, then everything that came of it is written, one socket after the other. A write now and one then
 * would change between this program's work and the kernel's for each of them, and wake a peer that has
 * just gone to sleep again. Nothing waits for time to pass: a turn with one message in it ends behind
 * that message.
 */

/** Holds what it has to write until it is called. */
export interface TurnEndWriter {
  writeOut(): void
}

let waiting: TurnEndWriter[] = []

/** Calls `writeOut` once, before the event loop looks for anything new. */
export function writeAtTurnEnd(writer: TurnEndWriter): void {
  waiting.push(writer)
  if (waiting.length === 1) setImmediate(writeAll)
}

function writeAll(): void {
  const writers = waiting
  waiting = []
  for (const writer of writers) writer.writeOut()
}

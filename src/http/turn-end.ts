/**
 * Writes to sockets at the end of the event loop's turn: first the program reads and processes everything
 * that has arrived, then it writes all results, one socket after the other. Single writes in between would
 * switch between program and kernel each time, and would wake a peer that has just gone to sleep. This adds
 * no delay: a turn with one message ends directly behind that message.
 */

/** Keeps its output until `writeOut` is called. */
export interface TurnEndWriter {
  writeOut(): void
}

const waiting: TurnEndWriter[] = []
/** Those that `writeAll` calls now; one that writes meanwhile waits for the next turn. */
const writing: TurnEndWriter[] = []

/** Calls `writeOut` once, before the event loop polls for new events. */
export function writeAtTurnEnd(writer: TurnEndWriter): void {
  waiting.push(writer)
  if (waiting.length === 1) setImmediate(writeAll)
}

/** Both lists keep their memory: most turns have one writer. */
function writeAll(): void {
  for (let writer = waiting.pop(); writer !== undefined; writer = waiting.pop())
    writing.push(writer)
  for (let writer = writing.pop(); writer !== undefined; writer = writing.pop()) writer.writeOut()
}

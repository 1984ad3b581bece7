/**
 * Reads the cost of a running program from /proc: CPU time of its threads as the scheduler counts it, and
 * resident memory. The scheduler counts nanoseconds; the usual user and system times have ticks of 10 ms.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** Parses the CPU time in nanoseconds from a `schedstat` file: run time, waiting time, slices. */
export function parseRunTimeNs(schedstat: string): number {
  const match = /^(\d+) \d+ \d+$/.exec(schedstat.trim())
  if (match === null) throw new Error(`not the text of a schedstat file: "${schedstat}"`)
  return Number(match[1])
}

/** Parses the parent's id from `/proc/PID/stat`; the name before it may contain any character. */
export function parseParentPid(stat: string): number {
  const match = /^ \S (\d+) /.exec(stat.slice(stat.lastIndexOf(')') + 1))
  if (match === null) throw new Error('not the text of a stat file')
  return Number(match[1])
}

/** Parses bytes from the `VmRSS` line of `/proc/PID/status`. */
export function parseResidentBytes(status: string): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(status)
  return match === null ? 0 : Number(match[1]) * 1024
}

/** Returns a process and its running descendants, such as the workers of nginx. */
export function findProcessTree(rootPid: number): readonly number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = readIfPresent(`/proc/${name}/stat`)
    if (stat !== undefined) parents.set(Number(name), parseParentPid(stat))
  }
  const tree = [rootPid]
  for (const pid of tree) {
    for (const [child, parent] of parents) if (parent === pid) tree.push(child)
  }
  return tree
}

/** Microseconds on a core so far, by thread. */
export type ThreadTimes = ReadonlyMap<number, number>

export function readThreadTimes(pids: readonly number[]): ThreadTimes {
  const times = new Map<number, number>()
  for (const pid of pids) {
    for (const thread of unlessEnded(() => readdirSync(`/proc/${pid}/task`)) ?? []) {
      const text = readIfPresent(`/proc/${pid}/task/${thread}/schedstat`)
      if (text !== undefined) times.set(Number(thread), parseRunTimeNs(text) / 1_000)
    }
  }
  return times
}

/** Returns the CPU time between two readings, without threads that ended in between. */
export function usedBetween(before: ThreadTimes, after: ThreadTimes): number {
  return [...after].reduce((sum, [thread, us]) => sum + us - (before.get(thread) ?? 0), 0)
}

export function readResidentBytes(pids: readonly number[]): number {
  let total = 0
  for (const pid of pids) {
    const status = readIfPresent(`/proc/${pid}/status`)
    if (status !== undefined) total += parseResidentBytes(status)
  }
  return total
}

function readIfPresent(path: string): string | undefined {
  return unlessEnded(() => readFileSync(path, 'latin1'))
}

/** A thread or process may end between the listing and the reading. */
function unlessEnded<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}

/** Shows on a terminal that a long command still works. It writes to standard error only. */
import type { Clock } from '../base/clock.ts'

const quietMs = 2_000
const stepMs = 1_000
/** Back to the start of the line, and the line is empty. */
const cleared = '\r\u001b[K'

/** Where progress shows. */
export interface ProgressSite {
  readonly clock: Clock
  readonly write: (text: string) => void
}

/**
 * Runs `work`. After two seconds a line counts the seconds; it is gone when the work ends. `site`
 * undefined = show nothing.
 */
export async function withProgress<Value>(
  site: ProgressSite | undefined,
  work: () => Promise<Value>,
): Promise<Value> {
  if (site === undefined) return work()
  const { clock, write } = site
  const startMs = clock.monotonic()
  let isShown = false
  const show = (): void => {
    isShown = true
    write(`${cleared}Working for ${Math.floor((clock.monotonic() - startMs) / 1_000)} s …`)
    timer = clock.after(stepMs, show)
  }
  let timer = clock.after(quietMs, show)
  try {
    return await work()
  } finally {
    timer.cancel()
    if (isShown) write(cleared)
  }
}

/**
 * A gateway in a separate process, run as `turnpike serve` runs it, for tests of what outlives a
 * process: crashes, signals, the order of system calls. Settings come from the environment. It tells
 * its parent the port, and kills itself at the point that the parent has armed, in the same turn:
 * nothing that would follow has been done. Where something was handed to a connection it dies behind the
 * turn's writing.
 */
import { loadConfig, processEnvironment } from '../../src/settings/read.ts'
import { serve } from '../../src/gateway/serve.ts'
import type { TracePoint } from '../../src/relay/stages.ts'

/** What the parent says; each is answered with `armed`. */
export interface CrashOrder {
  readonly crashAt: TracePoint | undefined
}

/** What the child says. */
export type GatewayReport =
  | {
      readonly kind: 'ready'
      /** The gateway's own, also where a tracer started it. */
      readonly pid: number
      readonly port: number
      readonly adminPort: number
    }
  | { readonly kind: 'armed' }

const loaded = loadConfig({ options: {}, env: processEnvironment(), cwd: process.cwd() })
if (loaded.kind === 'mistakes') throw new Error(JSON.stringify(loaded.list))

const handedOver: ReadonlySet<TracePoint> = new Set(['attempt_sent', 'answer_released'])

let crashAt: TracePoint | undefined
process.on('message', (order: CrashOrder) => {
  crashAt = order.crashAt
  report({ kind: 'armed' })
})
// The connection to the parent must not keep a drained gateway alive.
process.channel?.unref()
// The parent has died, and no other process would end this one.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

process.exitCode = await serve(loaded.config, {
  onReady: ({ app }) =>
    report({
      kind: 'ready',
      pid: process.pid,
      port: app.address.port,
      adminPort: app.adminAddress.port,
    }),
  onTracePoint(point) {
    if (point !== crashAt) return
    if (handedOver.has(point)) setImmediate(crash)
    else crash()
  },
})

function crash(): void {
  process.kill(process.pid, 'SIGKILL')
}

function report(message: GatewayReport): void {
  process.send?.(message)
}

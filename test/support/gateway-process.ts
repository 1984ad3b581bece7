/** Starts a gateway in its own process, which runs gateway-child.ts. */
import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { TracePoint } from '../../src/relay/stages.ts'
import type { CrashOrder, GatewayReport } from './gateway-child.ts'

export interface GatewayProcess {
  readonly url: string
  readonly adminUrl: string
  readonly pid: number
  /** From now on the process kills itself at this point, whichever exchange reaches it. */
  crashAt(point: TracePoint): Promise<void>
  signal(signal: NodeJS.Signals): void
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

const script = join(import.meta.dirname, 'gateway-child.ts')

/** `before` is put in front of the command, such as a tracer with its arguments. */
export async function startGatewayProcess(
  environment: Readonly<Record<string, string>>,
  before: readonly string[],
): Promise<GatewayProcess> {
  const [tracer, ...tracerArguments] = before
  const child = fork(script, [], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    ...(tracer === undefined
      ? {}
      : { execPath: tracer, execArgv: [...tracerArguments, process.execPath] }),
  })
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal ?? code ?? 0)
    })
  })
  child.stdout?.resume()
  const ready = await nextReport(child, 'ready')
  return {
    url: `http://127.0.0.1:${ready.port}`,
    adminUrl: `http://127.0.0.1:${ready.adminPort}`,
    pid: ready.pid,
    async crashAt(point) {
      const armed = nextReport(child, 'armed')
      child.send({ crashAt: point } satisfies CrashOrder)
      await armed
    },
    signal: (signal) => void process.kill(ready.pid, signal),
    ended,
  }
}

function nextReport<Kind extends GatewayReport['kind']>(
  child: ChildProcess,
  kind: Kind,
): Promise<Extract<GatewayReport, { kind: Kind }>> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error(`the gateway ended before it was ${kind}`))
    child.once('exit', onExit)
    child.on('message', function receive(message: GatewayReport) {
      if (message.kind !== kind) return
      child.off('message', receive)
      child.off('exit', onExit)
      resolve(message as Extract<GatewayReport, { kind: Kind }>)
    })
  })
}

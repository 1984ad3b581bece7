/**
 * A disk that fails under a running gateway: a tracer makes chosen system calls of the process fail, as
 * the kernel would report them. Linux and strace.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { eventually } from '../support/eventually.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { send, type WireAnswer } from '../support/http-client.ts'

/** From now on no sync succeeds. Resolves when the gateway has ended, as it must. */
export async function failSync(victim: GatewayProcess): Promise<void> {
  await inject(victim.pid, 'inject=fsync,fdatasync:error=EIO')
  await victim.ended
}

/** The process is killed as one of its threads makes this system call for the n-th time from now on. */
export async function killAtCall(
  victim: GatewayProcess,
  call: string,
  count: number,
): Promise<void> {
  await inject(victim.pid, `inject=${call}:signal=KILL:when=${count}`)
}

/** Nothing more can be written, until the gateway has noticed; then there is room again. */
export async function fillDisk(victim: GatewayProcess): Promise<void> {
  const tracer = await inject(victim.pid, 'inject=pwrite64:error=ENOSPC')
  await untilHealth(victim, 503)
  const detached = new Promise((resolve) => tracer.once('exit', resolve))
  tracer.kill('SIGINT')
  await detached
  await untilHealth(victim, 200)
}

/** Resolves when the tracer is at the process and all its threads. */
function inject(pid: number, rule: string): Promise<ChildProcess> {
  const calls = rule.slice('inject='.length).split(':')[0] ?? ''
  const tracer = spawn(
    'strace',
    ['-f', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', rule, '-p', String(pid)],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  return new Promise((resolve, reject) => {
    let text = ''
    tracer.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.includes('attached')) resolve(tracer)
    })
    tracer.once('error', reject)
    tracer.once('exit', () => reject(new Error(`strace does not trace here: ${text}`)))
  })
}

async function untilHealth({ url }: GatewayProcess, status: number): Promise<void> {
  const ask = (): Promise<WireAnswer> => send(`${url}/health`)
  await eventually(`health ${status}`, ask, (answer) => answer.status === status)
}

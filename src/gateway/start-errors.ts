/** The common part of the start of one gateway and of a supervisor. Part of the composition root. */
import { GatewayError } from '../base/errors.ts'
import { explainSystemError } from '../base/system-error.ts'
import type { Config } from '../settings/list.ts'

/** Returns an error that says what to do, where the cause of a failed start is known. */
export function explainStart(
  error: unknown,
  { listen, adminListen }: Pick<Config, 'listen' | 'adminListen'>,
): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE')
    return explainSystemError(error) ?? error
  // A bound socket that another program has begun to listen on comes without its port.
  const { port = listen.port } = error as { readonly port?: number }
  const setting = port === adminListen.port ? 'TURNPIKE_ADMIN_LISTEN' : 'TURNPIKE_LISTEN'
  return new GatewayError(
    'operations.conflict',
    `Port ${port} is already in use. Set ${setting} to another address, or stop the program that uses the port.`,
    { cause: error },
  )
}

/**
 * Keeps the gateway running when the reader of its output ends or hangs. Opening the streams also makes
 * Node set a pipe to non-blocking, so that a hanging reader cannot block the log's thread, for which the
 * end of the process would wait.
 */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
}

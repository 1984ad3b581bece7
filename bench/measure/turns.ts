/** Asks a gateway, into which the monitor is loaded, for the longest turn of its event loop. */
import { connect } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

let monitorCount = 0

/** `environment` is for the gateway. */
export function monitorTurns(workFolder: string) {
  const socketPath = join(workFolder, `turns-${monitorCount++}`)
  const program = pathToFileURL(join(import.meta.dirname, '../programs/turn-monitor.mjs'))
  const environment = { NODE_OPTIONS: `--import=${program.href}`, BENCH_TURNS: socketPath }
  return { socketPath, environment }
}

/** Returns the longest turn since the call before, in CPU time. */
export function readLongestTurnMs(socketPath: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = ''
    connect(socketPath)
      .on('data', (piece: Buffer) => (text += piece.toString()))
      .once('end', () => resolve(Number(text)))
      .once('error', reject)
  })
}

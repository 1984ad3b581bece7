/** Asks a gateway, into which the monitor is loaded, for the longest turn of its event loop. */
import { connect } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

let monitorCount = 0

export interface TurnMonitor {
  readonly socketPath: string
  /** Of the gateway, like its environment. */
  readonly nodeOptions: string
  readonly environment: Readonly<Record<string, string>>
}

export function monitorTurns(workFolder: string): TurnMonitor {
  const socketPath = join(workFolder, `turns-${monitorCount++}`)
  const program = pathToFileURL(join(import.meta.dirname, '../programs/turn-monitor.mjs'))
  const nodeOptions = `--import=${program.href}`
  return { socketPath, nodeOptions, environment: { BENCH_TURNS: socketPath } }
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

/**
 * One run of the load tool: so many connections for so many seconds against one proxy or several,
 * with one key or many, and what it saw.
 */
import { join } from 'node:path'
import { z } from 'zod'
import { requestBodies, type FormatName } from '../exchanges.ts'
import type { Bench } from '../proxies/proxy.ts'

/** From the end of the load to the last answer it still caused. */
export const afterglowMs = 200

const wrkResult = z.object({
  requests: z.number(),
  durationUs: z.number(),
  bytes: z.number(),
  badStatus: z.number(),
  socketErrors: z.number(),
  p50Us: z.number(),
  p99Us: z.number(),
})

export type WrkResult = z.infer<typeof wrkResult>

export interface WrkLoad {
  /** Each gets the same share of the connections; of fewer connections, the first ones get one each. */
  readonly ports: readonly [number, ...number[]]
  readonly path: string
  readonly format: FormatName
  readonly headers: Readonly<Record<string, string>>
  /** A file with one key a line, which the requests take in turn. */
  readonly keysPath?: string
  readonly connections: number
  readonly seconds: number
}

export async function runWrk(bench: Bench, load: WrkLoad): Promise<WrkResult> {
  const { path, format, headers, keysPath, connections, seconds } = load
  const ports = load.ports.slice(0, connections)
  const script = join(bench.root, 'bench', 'programs', 'post.lua')
  const options = `-t${ports.length} -c${connections} -d${seconds}s --timeout 10s`.split(' ')
  const output = await bench.group.run(
    {
      name: 'wrk',
      command: ['wrk', ...options, '-s', script, `http://127.0.0.1:${ports[0]}${path}`],
      core: bench.cores.load,
      environment: {
        BENCH_BODY: requestBodies[format],
        BENCH_HEADERS: describeHeaders({ 'content-type': 'application/json', ...headers }),
        BENCH_PORTS: ports.join(' '),
        ...(keysPath !== undefined && { BENCH_KEYS: keysPath }),
      },
    },
    (seconds + 20) * 1_000,
  )
  return wrkResult.parse(JSON.parse(/^result (.*)$/m.exec(output)?.[1] ?? 'null'))
}

function describeHeaders(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

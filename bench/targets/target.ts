/** What the measurements know of a gateway or proxy under test. Knows no configuration of any of them. */
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import type { StreamFormatName } from '../exchanges.ts'
import type { Cores } from '../machine.ts'
import type { ThreadTimes } from '../measure/process-cost.ts'
import type { MoneyLine, ServedCounts } from '../measure/served.ts'
import { findFreePort, type ProcessGroup, type Running, type StartOptions } from '../processes.ts'

/** Where a request goes. */
export interface Case {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The requests use these keys in turn. */
  readonly keys?: readonly string[]
}

/** What a target can do. */
export interface Cases {
  /** A chat request with a JSON answer. */
  readonly json: Case
  readonly streams: Readonly<Partial<Record<StreamFormatName, Case>>>
  /** The same of many accounts, and a request that is not charged. */
  readonly many?: Case
  readonly free?: Case
  /** More than these it cannot do on one core. */
  readonly requestsPerSecondMax?: number
  readonly streamsPerSecondMax?: number
}

export interface Target {
  /** `none`: the load reaches the vendor without a proxy. */
  readonly name: string
  readonly title: string
  /** Several gateways on one store share the connections. */
  readonly ports: readonly [number, ...number[]]
  readonly processes: readonly Running[]
  readonly cases: Cases
  /** The store of a gateway of ours, as it is seen from outside. */
  readonly books?: Books
}

export interface Books {
  readonly served: ServedCounts
  countTransactions(): Promise<number>
  /** Of the store's own processes. */
  readTimes(): ThreadTimes
  /** After the gateways have stopped. */
  compare(): Promise<readonly MoneyLine[]>
}

/** What starting any target needs. */
export interface Bench {
  readonly group: ProcessGroup
  readonly cores: Cores
  readonly workFolder: string
  readonly root: string
  /** The vendor of the plain chat model, and of the other models. */
  readonly chatPort: number
  readonly vendorPort: number
}

interface PeerPlan {
  readonly title: string
  /** Written to a file, whose path the command gets. */
  readonly configuration?: (port: number) => string
  readonly command: (port: number, path: string) => StartOptions['command']
  readonly environment?: Readonly<Record<string, string>>
  readonly cases: Cases
}

/** Starts a target that is not ours. */
export async function startPeer(bench: Bench, name: string, plan: PeerPlan): Promise<Target> {
  const port = await findFreePort()
  // Envoy reads JSON only from a file with such a name; JSON is YAML.
  const path = join(bench.workFolder, `${name}-${port}.yaml`)
  if (plan.configuration !== undefined) writeFileSync(path, plan.configuration(port))
  const running = bench.group.start({
    name,
    command: plan.command(port, path),
    core: bench.cores.proxy,
    environment: plan.environment ?? {},
    output: 'log',
  })
  await bench.group.waitForPort(running, port)
  return { name, title: plan.title, ports: [port], processes: [running], cases: plan.cases }
}

export async function stopTarget({ group }: Bench, { processes }: Target): Promise<void> {
  await Promise.all(processes.map((process) => group.stop(process)))
}

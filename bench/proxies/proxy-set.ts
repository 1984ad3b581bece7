/**
 * Starts the proxies of a plan for one part of the benchmark and stops them after it. Each part starts new
 * processes. The gateway's store is kept, so that its ledger contains the whole run.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Tools } from '../machine.ts'
import type { Plan } from '../options.ts'
import { startNginxProxy } from './nginx.ts'
import { startHaproxy, startPortkey } from './peers.ts'
import type { Bench, Proxy } from './proxy.ts'
import {
  type AuditReport,
  type ModelUsage,
  prepareTurnpike,
  readAudit,
  readUsage,
  startTurnpike,
  type TurnpikeStore,
} from './turnpike.ts'

export interface LedgerReport {
  readonly usage: readonly ModelUsage[]
  readonly audit: AuditReport
}

/** The first audit starts at a random moment, and would take its share of one measurement or another. */
const awaitsAudit = true

export class ProxySet {
  readonly #bench: Bench
  readonly #plan: Plan
  readonly #tools: Tools
  readonly #profileFolder: string | undefined
  #store: TurnpikeStore | undefined
  #baseline: TurnpikeStore | undefined

  /** With a `profileFolder` the gateway writes CPU profiles there, one folder per part. */
  constructor(bench: Bench, plan: Plan, tools: Tools, profileFolder: string | undefined) {
    this.#bench = bench
    this.#plan = plan
    this.#tools = tools
    this.#profileFolder = profileFolder
  }

  async withProxies(
    part: string,
    action: (proxies: readonly Proxy[]) => Promise<void>,
  ): Promise<void> {
    const proxies: Proxy[] = []
    try {
      const wanted = this.#plan.proxies
      if (wanted.has('nginx')) proxies.push(await startNginxProxy(this.#bench))
      if (this.#tools.hasHaproxy) proxies.push(await startHaproxy(this.#bench))
      if (wanted.has('turnpike')) proxies.push(await this.#startTurnpike(part))
      if (this.#plan.against !== undefined)
        proxies.push(await this.#startBaseline(this.#plan.against))
      if (wanted.has('portkey') && part === 'requests') {
        proxies.push(await startPortkey(this.#bench))
      }
      await action(proxies)
    } finally {
      await Promise.all(proxies.map((proxy) => this.#bench.group.stop(proxy.process)))
    }
  }

  /** Returns what the gateway has charged in all parts; undefined if it was not measured. */
  async readLedger(): Promise<LedgerReport | undefined> {
    if (this.#store === undefined) return undefined
    return {
      usage: await readUsage(this.#bench, this.#store),
      audit: await readAudit(this.#bench, this.#store),
    }
  }

  async #startTurnpike(part: string): Promise<Proxy> {
    this.#store ??= await prepareTurnpike(this.#bench, {
      name: 'turnpike',
      root: this.#bench.root,
    })
    if (this.#profileFolder === undefined)
      return startTurnpike(this.#bench, this.#store, { awaitsAudit })
    const profileFolder = join(this.#profileFolder, part)
    mkdirSync(profileFolder, { recursive: true })
    return startTurnpike(this.#bench, this.#store, { profileFolder, awaitsAudit })
  }

  async #startBaseline(root: string): Promise<Proxy> {
    this.#baseline ??= await prepareTurnpike(this.#bench, { name: 'baseline', root })
    return startTurnpike(this.#bench, this.#baseline, { awaitsAudit })
  }
}

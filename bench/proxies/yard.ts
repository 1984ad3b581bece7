/**
 * Starts the proxies of a plan for one part of the benchmark and stops them after it. Each part
 * begins with fresh processes; the gateway's store goes on, so that its ledger holds the whole run.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Plan } from '../options.ts'
import type { Tools } from '../tools.ts'
import { startHaproxy } from './haproxy.ts'
import { startNginxProxy } from './nginx.ts'
import { startPortkey } from './portkey.ts'
import type { Bench, Proxy } from './proxy.ts'
import {
  prepareTurnpike,
  readAudit,
  readUsage,
  startTurnpike,
  type AuditReport,
  type ModelUsage,
  type TurnpikeStore,
} from './turnpike.ts'

export interface Books {
  readonly usage: readonly ModelUsage[]
  readonly audit: AuditReport
}

export class ProxyYard {
  readonly #bench: Bench
  readonly #plan: Plan
  readonly #tools: Tools
  readonly #profileFolder: string | undefined
  #store: TurnpikeStore | undefined

  /** With a `profileFolder` the gateway leaves its CPU profiles in a folder there for each part. */
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
      if (wanted.has('portkey') && part === 'requests') {
        proxies.push(await startPortkey(this.#bench))
      }
      await action(proxies)
    } finally {
      await Promise.all(proxies.map((proxy) => this.#bench.group.stop(proxy.process)))
    }
  }

  /** What the gateway has charged in all parts; undefined where it took no part. */
  async readBooks(): Promise<Books | undefined> {
    if (this.#store === undefined) return undefined
    return {
      usage: await readUsage(this.#bench, this.#store),
      audit: await readAudit(this.#bench, this.#store),
    }
  }

  async #startTurnpike(part: string): Promise<Proxy> {
    this.#store ??= await prepareTurnpike(this.#bench)
    // Memory is measured from the start on, and would have the audit's own in it.
    const awaitsAudit = part === 'requests'
    if (this.#profileFolder === undefined)
      return startTurnpike(this.#bench, this.#store, { awaitsAudit })
    const profileFolder = join(this.#profileFolder, part)
    mkdirSync(profileFolder, { recursive: true })
    return startTurnpike(this.#bench, this.#store, { profileFolder, awaitsAudit })
  }
}

/**
 * Gateways that are killed and come back: each node is a process on the scenario's store, started again
 * as soon as it has died, whatever killed it. Clients ask for the address of one that is alive.
 */
import assert from 'node:assert/strict'
import type { Random } from '../../src/base/random.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import type { ProcessScenario } from '../support/scenario.ts'

export interface Nodes {
  /** kill -9 of a random node; resolves when it serves again. Nothing where none is alive. */
  kill(): Promise<void>
  /** Does something to a random node; resolves when it serves (again) after that. */
  disturb(action: (victim: GatewayProcess) => Promise<void>): Promise<void>
  /** The address of a random node that serves; waits for one. */
  findUrl(): Promise<string>
  /** Of all that serve right now. */
  urls(): readonly string[]
  /** Resolves when every node serves. */
  allServe(): Promise<void>
  /** No node comes back any more; kills those that there are. */
  end(): Promise<void>
  readonly killCount: number
}

export interface NodesPlan {
  readonly setup: ProcessScenario
  readonly random: Random
  /** Settings of each node; as many nodes as there are members. */
  readonly settings: readonly Readonly<Record<string, string>>[]
}

interface Node {
  process: GatewayProcess | undefined
  serving: Promise<void>
}

export async function startNodes({ setup, random, settings }: NodesPlan): Promise<Nodes> {
  let killCount = 0
  let isEnding = false
  const waiting = new Set<() => void>()
  const nodes = settings.map((own): Node => {
    const node: Node = { process: undefined, serving: Promise.resolve() }
    node.serving = bringUp(node, own)
    return node
  })

  async function bringUp(node: Node, own: Readonly<Record<string, string>>): Promise<void> {
    const started = await setup.start(own)
    node.process = started
    for (const look of waiting) look()
    void comeBack(node, own, started)
  }

  async function comeBack(
    node: Node,
    own: Readonly<Record<string, string>>,
    started: GatewayProcess,
  ): Promise<void> {
    const how = await started.ended
    node.process = undefined
    if (isEnding) return
    // A node that fails by itself comes back like one that is killed; its books are judged later.
    assert.notEqual(how, 0, 'no test has asked a node to end')
    node.serving = bringUp(node, own)
  }

  function alive(): GatewayProcess[] {
    return nodes.flatMap(({ process }) => (process === undefined ? [] : [process]))
  }

  function pick(): GatewayProcess | undefined {
    const running = alive()
    return running[Math.floor(random() * running.length)]
  }

  async function disturb(action: (victim: GatewayProcess) => Promise<void>): Promise<void> {
    const victim = pick()
    if (victim === undefined) return
    const node = nodes.find(({ process }) => process === victim)
    await action(victim)
    await node?.serving
  }

  await Promise.all(nodes.map(({ serving }) => serving))
  return {
    disturb,
    kill: () =>
      disturb(async (victim) => {
        killCount++
        victim.signal('SIGKILL')
        await victim.ended
      }),
    async findUrl() {
      for (;;) {
        const running = pick()
        if (running !== undefined) return running.url
        await new Promise<void>((resolve) => {
          const look = (): void => {
            waiting.delete(look)
            resolve()
          }
          waiting.add(look)
        })
      }
    },
    urls: () => alive().map(({ url }) => url),
    async allServe() {
      for (const node of nodes) await node.serving
    },
    async end() {
      isEnding = true
      for (const node of nodes) await node.serving
      for (const process of alive()) {
        process.signal('SIGKILL')
        await process.ended
      }
    },
    get killCount() {
      return killCount
    },
  }
}

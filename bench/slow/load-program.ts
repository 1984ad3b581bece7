/** Starts the program that is vendor and client, and hands it its tasks. */
import { once } from 'node:events'
import { join } from 'node:path'
import { z } from 'zod'
import type { ProcessGroup, Running } from '../processes.ts'
import type { ClientTask } from './client.ts'

const times = z.object({ p50Us: z.number().nullable(), p99Us: z.number().nullable() })
const report = z.object({
  vendor: z.object({
    answered: z.number(),
    events: z.number(),
    outputTokens: z.number(),
    cut: z.number(),
    slips: z.number(),
  }),
  client: z.object({ complete: z.number(), failed: z.number(), events: z.number() }),
  /** Answers whose first byte has arrived. */
  begun: z.number(),
  failure: z.string().optional(),
  /** Of the answers since the report before. */
  first: times,
  last: times,
})

export type LoadReport = z.infer<typeof report>

export interface LoadTask extends Omit<ClientTask, 'events'> {
  readonly events: number
  readonly periodMs: number
  /** The streams end before they have all events. */
  readonly isCutShort: boolean
}

const answerLimitMs = 120_000

export class LoadProgram {
  readonly #running: Running

  constructor(running: Running) {
    this.#running = running
  }

  async begin(task: LoadTask): Promise<void> {
    await this.#send({ kind: 'begin', ...task })
  }

  mark(): Promise<LoadReport> {
    return this.#send({ kind: 'mark' })
  }

  /** Resolves when every request has its answer. */
  end(): Promise<LoadReport> {
    return this.#send({ kind: 'end' })
  }

  async #send(command: object): Promise<LoadReport> {
    const answer = once(this.#running.child, 'message', {
      signal: AbortSignal.timeout(answerLimitMs),
    })
    this.#running.child.send(command)
    const gone = this.#running.ended.then(() => {
      throw new Error(`the load ended early: ${this.#running.readLog()}`)
    })
    const [message] = (await Promise.race([answer, gone])) as readonly unknown[]
    return report.parse(message)
  }
}

export async function startLoadProgram(
  group: ProcessGroup,
  { root, core, port }: { readonly root: string; readonly core: number; readonly port: number },
): Promise<LoadProgram> {
  const program = join(root, 'bench/programs/slow-load.ts')
  const running = group.start({
    name: 'slow-load',
    command: [process.execPath, program, String(port)],
    core,
    output: 'log',
    hasChannel: true,
  })
  await group.waitForPort(running, port)
  return new LoadProgram(running)
}

/** Starts the program that is vendor and client, and hands it its tasks. */
import { join } from 'node:path'
import { z } from 'zod'
import { ask, type ProcessGroup } from '../processes.ts'
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

type LoadReport = z.infer<typeof report>

interface LoadTask extends Omit<ClientTask, 'events'> {
  readonly events: number
  readonly periodMs: number
  /** The streams end before they have all events. */
  readonly isCutShort: boolean
}

export type LoadCommand =
  | ({ readonly kind: 'begin' } & LoadTask)
  | { readonly kind: 'mark' }
  | { readonly kind: 'end' }

/** Each command gets one report; that of `end` comes when every request has its answer. */
export type LoadProgram = (command: LoadCommand) => Promise<LoadReport>

export async function startLoadProgram(
  group: ProcessGroup,
  { root, core, port }: { readonly root: string; readonly core: number; readonly port: number },
): Promise<LoadProgram> {
  const program = join(root, 'bench/programs/load.ts')
  const running = group.start({
    name: 'load',
    command: [process.execPath, program, String(port)],
    core,
    output: 'log',
    hasChannel: true,
  })
  await group.waitForPort(running, port)
  return async (command) => report.parse(await ask(running, command))
}

/** What a transcript needs of a client: how to run it in a scene, and what it printed there. */
import type { Stage } from './scenes.ts'
import type { Printed } from './screen.ts'

export interface Ran extends Printed {
  readonly code: number | null
}

export interface Client {
  /** As a reader types it. */
  readonly command: string
  /** Lines of its screen that say nothing about a scene. */
  readonly drop?: RegExp
  /** Of the gateway, where the client needs one; the list says why. */
  readonly settings?: Readonly<Record<string, string>>
  run(stage: Stage): Promise<Ran>
}

/** What an attack is, and what it is given. */

/** Another address of loopback than that of the other clients. */
export const attackerAddress = '127.0.0.2'

export interface Target {
  readonly port: number
  readonly adminPort: number
  /** Of an account with a balance and a past, and a read-only token of it. */
  readonly account: string
  readonly key: string
  readonly token: string
  readonly adminToken: string
  /** As it is applied. */
  readonly catalogue: string
}

export type Stop = () => void

export interface Attack {
  readonly name: string
  /** Returns what ends it. Reports the status of each whole answer, 0 for one that was cut. */
  start(target: Target, onAnswer: (status: number) => void): Stop | Promise<Stop>
  /** What the vendor of the attacker answers where it does not stream. */
  readonly makeAnswer?: () => string
  /** Between two events of its streams; without it they come as fast as they are read. */
  readonly paceMs?: number
}

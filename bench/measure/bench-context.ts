/** The context of operations that the benchmark calls itself, on a store without a gateway. */
import { systemClock } from '../../src/base/clock.ts'
import { Secret } from '../../src/base/secret.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import type { Database } from '../../src/storage/database.ts'

/** In the form in which a gateway holds it. It protects nothing: the credentials are made up. */
export const benchMasterKey = Buffer.alloc(32).toString('base64')

export function benchContext(database: Database): OperationContext {
  return {
    database,
    clock: systemClock,
    actor: 'bench',
    masterKey: () => new Secret(benchMasterKey),
    environment: () => undefined,
    runCheck: noCheck,
  }
}

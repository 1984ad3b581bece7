/** The context of an operation that a thread carries out, with a connection to the store for itself. */
import { systemClock } from '../base/clock.ts'
import { Secret } from '../base/secret.ts'
import { processEnvironment } from '../settings/read.ts'
import { openStore } from '../storage/open.ts'
import type { CredentialRule } from './catalogue/credential-rule.ts'
import { contextOn } from './context.ts'
import type { OperationContext } from './operation.ts'

/** What a thread gets of a context: plain data. */
export interface ThreadContext {
  /** The `store` setting. */
  readonly store: string
  readonly nowMs: number
  readonly masterKey: string
  readonly given: Pick<OperationContext, 'actor' | 'session' | 'hidesSealed'> & {
    readonly credentialRule?: CredentialRule
  }
}

/** Returns what a thread needs of this context. */
export function toThread(store: string, context: OperationContext): ThreadContext {
  const { actor, session, hidesSealed, credentialRule } = context
  return {
    store,
    nowMs: context.clock.now(),
    masterKey: context.masterKey().reveal(),
    given: {
      actor,
      ...(session !== undefined && { session }),
      ...(hidesSealed !== undefined && { hidesSealed }),
      ...(credentialRule !== undefined && { credentialRule }),
    },
  }
}

/** Called by the thread: opens the store for this work and closes it. */
export async function inThread<Result>(
  { store, nowMs, masterKey, given }: ThreadContext,
  work: (context: OperationContext) => Promise<Result>,
): Promise<Result> {
  const environment = processEnvironment()
  const database = await openStore(store)
  try {
    return await work(
      contextOn(database, {
        ...given,
        clock: { ...systemClock, now: () => nowMs },
        masterKey: () => new Secret(masterKey),
        environment: (name) => environment[name],
      }),
    )
  } finally {
    await database.close()
  }
}

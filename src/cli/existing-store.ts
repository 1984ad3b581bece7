/** For commands that set nothing up: where a path has a slip in it they make no store there. */
import type { OperationContext } from '../operations/context.ts'
import { answering, onStore, readConfig, withoutStore, withStore, type Given } from './shell.ts'

type Action = ReturnType<typeof answering>

/** Like `onStore`, and refuses where there is no store yet. */
export function onExistingStore(work: Parameters<typeof onStore>[0]): Action {
  return demandingStore(onStore(work))
}

/** The same action, once it is known that there is a store for it. */
export function demandingStore(action: Action): Action {
  const demand = answering(async (given) => {
    await demandStoreFor(given)
    return undefined
  })
  return async (...parameters) => {
    await demand(...parameters)
    await action(...parameters)
  }
}

/** The store is open while `work` runs, for a command that has something to do before it needs one. */
export async function withExistingStore<Result>(
  given: Given,
  work: (context: OperationContext) => Promise<Result>,
): Promise<Result> {
  await demandStoreFor(given)
  return withStore(given, work)
}

/** For a look at what a command would do: where there is no store yet, it is done on an empty one. */
export async function withStoreIfThere<Result>(
  given: Given,
  work: (context: OperationContext) => Promise<Result>,
): Promise<Result> {
  const { hasStore } = await import('../storage/existing-store.ts')
  const isThere = await hasStore(readConfig(given.options).store)
  return isThere ? withStore(given, work) : withoutStore(given, work)
}

export async function demandStoreFor({ options }: Given): Promise<void> {
  const { demandStore } = await import('../storage/existing-store.ts')
  await demandStore(readConfig(options).store)
}

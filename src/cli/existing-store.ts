/** For commands that only read or check: where a path has a slip in it they make no store there. */
import { answering, onStore, readConfig } from './shell.ts'

type Action = ReturnType<typeof answering>

/** Like `onStore`, and refuses where there is no store yet. */
export function onExistingStore(work: Parameters<typeof onStore>[0]): Action {
  return demandingStore(onStore(work))
}

/** The same action, once it is known that there is a store for it. */
export function demandingStore(action: Action): Action {
  const demand = answering(async ({ options }) => {
    const { demandStore } = await import('../storage/existing-store.ts')
    await demandStore(readConfig(options).store)
    return undefined
  })
  return async (...parameters) => {
    await demand(...parameters)
    await action(...parameters)
  }
}

/** Words for what the log of actions records, for operators and for owners of an account. */
import { t } from '../messages/t.ts'

/** `key.revoke` in words; an action without any as it is recorded. */
export function actionWords(action: string): string {
  const key = `figures.did.${action.replaceAll(/[.-]([a-z])/g, (_, letter: string) => letter.toUpperCase())}`
  return t.has(key as 'figures.did.keyEdit') ? t(key as 'figures.did.keyEdit') : action
}

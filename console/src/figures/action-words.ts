/** Words for what the log of actions records: `audit` has them for operators, `members` for owners. */
import { t } from '../messages/t.ts'

/** `key.revoke` in words; an action without any as it is recorded. */
export function actionWords(action: string, room: 'audit' | 'members'): string {
  const word = action.replaceAll(/[.-]([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const key = `${room}.did.${word}` as 'audit.did.keyEdit'
  return t.has(key) ? t(key) : action
}

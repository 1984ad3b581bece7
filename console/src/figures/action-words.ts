/** Words for what the log of actions records. The account page has those that its owners see. */
import { t } from '../messages/t.ts'

/** `key.revoke` in words; an action without any as it is recorded. */
export function actionWords(action: string): string {
  const word = action.replaceAll(/[.-]([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const [shared, own] = [`figures.did.${word}`, `audit.did.${word}`] as [
    'figures.did.keyEdit',
    'audit.did.channelOn',
  ]
  if (t.has(shared)) return t(shared)
  return t.has(own) ? t(own) : action
}

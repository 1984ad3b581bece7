/** What operators have done, newest first. */
import { z } from 'zod'
import { listActions } from './action-store.ts'
import { parseInput, type OperationContext } from './context.ts'
import { listCount } from './input.ts'
import { timeText } from './views.ts'

export interface ActionView {
  readonly sequence: number
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly detail: Readonly<Record<string, unknown>>
}

const actionsInput = z.strictObject({ count: listCount.default(100) })

export async function recentActions(
  context: OperationContext,
  input: unknown,
): Promise<readonly ActionView[]> {
  const { count } = parseInput(actionsInput, input)
  const actions = await listActions(context.database, { countMax: count })
  return actions.map(({ atMs, ...action }) => ({ at: timeText(atMs), ...action }))
}

/** Calls of tools that the vendor defines and the client runs: a shell, patches, a computer. */
import { asObject } from '../request.ts'
import type { JsonObject } from '../request.ts'
import type { Item } from './accounts.ts'
import type { OutputItem } from './items.ts'

interface TypedTool {
  /** Begins the ids of its calls. */
  readonly prefix: string
  /** The member that says what to do, and what it is where no script says it. */
  readonly member: string
  readonly standard: JsonObject
  readonly more: JsonObject
}

/** By the type of the tool; the type of a call is the same with `_call`. */
const typedTools = {
  local_shell: {
    prefix: 'lsh',
    member: 'action',
    standard: { type: 'exec', command: ['ls'], env: {} },
    more: {},
  },
  shell: {
    prefix: 'sh',
    member: 'action',
    standard: { commands: ['ls'], max_output_length: null, timeout_ms: null },
    more: { environment: null },
  },
  apply_patch: {
    prefix: 'apc',
    member: 'operation',
    standard: { type: 'create_file', path: 'simulated.txt', diff: '+simulated\n' },
    more: {},
  },
  computer: {
    prefix: 'cu',
    member: 'action',
    standard: { type: 'screenshot' },
    more: { pending_safety_checks: [] },
  },
} as const satisfies Readonly<Record<string, TypedTool>>

export type TypedName = keyof typeof typedTools

/** Returns the tool of this type; also of its older names, such as `computer_use_preview`. */
export function findTyped(type: string): TypedName | undefined {
  return (Object.keys(typedTools) as TypedName[]).find((name) => type.startsWith(name))
}

/** What a call of the tool says to do. */
export function actionOf(name: TypedName, input: unknown): JsonObject {
  return asObject(input) ?? typedTools[name].standard
}

export function typedCallItem(
  name: TypedName,
  action: JsonObject,
  makeId: (prefix: string) => string,
): OutputItem {
  const { prefix, member, more }: TypedTool = typedTools[name]
  const id = makeId(prefix)
  const callId = makeId('call')
  const item = (status: string): Item => ({
    id,
    type: `${name}_call`,
    status,
    [member]: action,
    call_id: callId,
    ...more,
  })
  return { id, added: item('in_progress'), done: () => item('completed'), events: () => [] }
}

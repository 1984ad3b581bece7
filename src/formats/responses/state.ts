/**
 * What a request for a response names of earlier answers: a response that it continues, output items by their
 * id, and content that only one vendor account can read. An item that has all of its content is
 * self-contained: the vendor needs nothing but the body, and its id is only a name.
 */
import { hash } from 'node:crypto'
import type { StateKind } from '../answer.ts'
import type { RequestFacts, StateReference } from '../format.ts'
import { asArray, asObject, asText, ownText, type JsonObject } from '../json.ts'

/**
 * By type of item, the field that holds its content. A type that is not listed is looked up by its id. An
 * item without a type is a message.
 */
const contentFields: Readonly<Record<string, string>> = {
  additional_tools: 'tools',
  agent_message: 'content',
  apply_patch_call: 'operation',
  apply_patch_call_output: 'output',
  code_interpreter_call: 'code',
  compaction: 'encrypted_content',
  computer_call: 'action',
  computer_call_output: 'output',
  custom_tool_call: 'input',
  custom_tool_call_output: 'output',
  file_search_call: 'queries',
  function_call: 'arguments',
  function_call_output: 'output',
  image_generation_call: 'result',
  local_shell_call: 'action',
  local_shell_call_output: 'output',
  mcp_approval_request: 'arguments',
  mcp_call: 'arguments',
  mcp_list_tools: 'tools',
  message: 'content',
  program: 'code',
  program_output: 'result',
  reasoning: 'encrypted_content',
  shell_call: 'action',
  shell_call_output: 'output',
  tool_search_call: 'arguments',
  tool_search_output: 'tools',
  web_search_call: 'action',
}

/** These name nothing; an id of theirs is the client's own. */
const plainTypes: ReadonlySet<unknown> = new Set(['compaction_trigger', 'mcp_approval_response'])

/** Whether a type of item is one whose content is in the body. */
export function isKnownItem(type: unknown): boolean {
  const name = asText(type) ?? 'message'
  return Object.hasOwn(contentFields, name) || name === 'mcp_approval_response'
}

/** Returns the id under which encrypted content is known: its hash, of the bytes of its text. */
export function encryptedId(content: string | Buffer): string {
  return hash('sha256', content, 'base64url')
}

/** The strings of a body are latin1. */
export function findResponsesState(
  body: JsonObject,
): Pick<RequestFacts, 'references' | 'storesAnswer' | 'asksStorage'> {
  const found = new References()
  found.add('response', body['previous_response_id'], true)
  // A diagnosis of the prompt's cache compares with another response.
  const compared = asObject(body['prompt_cache_options'])?.['comparison_response_id']
  found.add('response', compared, true)
  const items = (asArray(body['input']) ?? []).map((item) => asObject(item) ?? {})
  for (const item of items) addItem(found, item)
  // An approval answers an item of an earlier answer, unless that item is in the body too.
  for (const item of items)
    if (item['type'] === 'mcp_approval_response')
      found.add(
        'item',
        item['approval_request_id'],
        !found.has('item', item['approval_request_id']),
      )
  const store = body['store']
  return {
    ...(found.all.length > 0 && { references: found.all }),
    ...(store !== false && { storesAnswer: true }),
    ...(store !== false && store !== undefined && store !== null && { asksStorage: true }),
  }
}

function addItem(found: References, item: JsonObject): void {
  const { type } = item
  for (const encrypted of encryptedIn(item))
    if (typeof encrypted === 'string' && encrypted !== '')
      found.add('encrypted', encryptedId(Buffer.from(encrypted, 'latin1')), false)
  // The vendor goes on in a container that an item names.
  found.add('container', item['container_id'], false)
  if (!plainTypes.has(type)) found.add('item', item['id'], !isSelfContained(item))
}

/** Encrypted content of an item and of its parts. */
export function encryptedIn(item: JsonObject): readonly unknown[] {
  const parts = asArray(item['content']) ?? []
  return [item, ...parts.map(asObject)].map((one) => one?.['encrypted_content'])
}

function isSelfContained(item: JsonObject): boolean {
  const type = asText(item['type']) ?? 'message'
  const content = item[contentFields[type] ?? '']
  if (content !== undefined && content !== null && content !== '') return true
  // Servers of open models show the reasoning itself.
  return type === 'reasoning' && (asArray(item['content'])?.length ?? 0) > 0
}

/** Each reference once; it is needed where one of its places needs it. */
class References {
  readonly #byName = new Map<string, StateReference>()

  get all(): readonly StateReference[] {
    return [...this.#byName.values()]
  }

  has(kind: StateKind, id: unknown): boolean {
    return this.#byName.has(nameOf(kind, id))
  }

  add(kind: StateKind, id: unknown, isNeeded: boolean): void {
    if (typeof id !== 'string' || id === '') return
    const name = nameOf(kind, id)
    const known = this.#byName.get(name)
    if (known === undefined || (isNeeded && !known.isNeeded))
      this.#byName.set(name, { kind, id: ownText(id), isNeeded })
  }
}

function nameOf(kind: StateKind, id: unknown): string {
  return `${kind} ${String(id)}`
}

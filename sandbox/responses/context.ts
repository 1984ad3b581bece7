/**
 * What a request for a response is about: the items before it that the vendor keeps, and those that
 * it brings. Checks them as the vendor does. A reference, an encrypted content or an earlier
 * response that this vendor account does not have is a refusal.
 */
import type { ErrorPreset } from '../error-presets.ts'
import { codedRefusal, notFound, plainRefusal } from '../refusals.ts'
import { asArray, asObject, contentText } from '../request.ts'
import type { JsonObject } from '../request.ts'
import type { Item, VendorAccount } from './accounts.ts'
import { findEncryptionFault } from './encrypted.ts'

export interface Context {
  /** Items of earlier responses, or of the conversation. */
  readonly earlier: readonly Item[]
  /** Items of this request, references replaced by their items. */
  readonly own: readonly JsonObject[]
  readonly fault: ErrorPreset | undefined
}

export const noContext: Context = { earlier: [], own: [], fault: undefined }

/**
 * Where something does not exist, the context is what can be read without it. A vendor account has
 * no stored prompts.
 */
export function readContext(body: JsonObject, account: VendorAccount): Context {
  const before = readEarlier(body, account)
  const own: JsonObject[] = []
  let { fault } = before
  for (const item of ownItems(body['input'])) {
    const found = resolveItem(item, { account, stores: body['store'] !== false })
    fault ??= found.fault
    if (found.item !== undefined) own.push(found.item)
  }
  const prompt = asObject(body['prompt'])?.['id']
  if (typeof prompt === 'string') fault ??= notFound(`Prompt with id '${prompt}' not found.`)
  fault ??= findLooseCall([...before.items, ...own])
  return { earlier: before.items, own, fault }
}

interface Earlier {
  readonly items: readonly Item[]
  readonly fault: ErrorPreset | undefined
}

function readEarlier(body: JsonObject, account: VendorAccount): Earlier {
  const { previous_response_id: previous } = body
  if (typeof previous === 'string') {
    const found = account.findResponse(previous)
    if (found !== undefined) return { items: [...found.input, ...found.output], fault: undefined }
    const message = `Previous response with id '${previous}' not found.`
    const fault = codedRefusal(message, 'previous_response_not_found', 'previous_response_id')
    return { items: [], fault }
  }
  const id = conversationId(body)
  if (id === undefined) return { items: [], fault: undefined }
  const found = account.findConversation(id)
  if (found !== undefined) return { items: found.items, fault: undefined }
  return { items: [], fault: notFound(`Conversation with id '${id}' not found.`) }
}

/** A conversation is named by its id, or by an object with it. */
export function conversationId({ conversation }: JsonObject): string | undefined {
  const id = asObject(conversation)?.['id'] ?? conversation
  return typeof id === 'string' ? id : undefined
}

/** The items that `input` holds or refers to; a text is one message of the user. */
function ownItems(input: unknown): readonly JsonObject[] {
  if (typeof input === 'string') return [userMessage(input)]
  return asArray(input).flatMap((entry) => {
    const item = asObject(entry)
    if (item === undefined) return []
    if (item['type'] === undefined && typeof item['id'] === 'string' && item['role'] === undefined)
      return [{ ...item, type: 'item_reference' }]
    return [item['type'] === undefined ? { ...item, type: 'message' } : item]
  })
}

function userMessage(text: string): JsonObject {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}

interface Keeper {
  readonly account: VendorAccount
  readonly stores: boolean
}

interface Resolved {
  readonly item: JsonObject | undefined
  readonly fault: ErrorPreset | undefined
}

function resolveItem(item: JsonObject, { account, stores }: Keeper): Resolved {
  const { type, id, encrypted_content: encrypted } = item
  const canBeEncrypted = type === 'reasoning' || type === 'compaction'
  if (canBeEncrypted && typeof encrypted === 'string') {
    return { item, fault: findEncryptionFault(encrypted, { account, itemId: id }) }
  }
  const isReference = type === 'item_reference' || type === 'reasoning'
  if (!isReference || typeof id !== 'string') return { item, fault: undefined }
  const found = account.findItem(id)
  if (found !== undefined) return { item: found, fault: undefined }
  const hint =
    ' Items are not persisted when `store` is set to false.' +
    ' Try again with `store` set to true, or remove this item from your input.'
  return {
    item: undefined,
    fault: notFound(`Item with id '${id}' not found.${stores ? '' : hint}`, 'input'),
  }
}

const callTypes = new Map([
  ['function_call', 'function call'],
  ['custom_tool_call', 'custom tool call'],
])

/** A result needs its call, and a call its result. */
function findLooseCall(items: readonly JsonObject[]): ErrorPreset | undefined {
  const calls = new Map<unknown, string>()
  const results = new Set<unknown>()
  for (const { type, call_id: id } of items) {
    if (typeof type !== 'string') continue
    const called = callTypes.get(type)
    if (called !== undefined) calls.set(id, called)
    const answered = callTypes.get(type.replace(/_output$/, ''))
    if (called !== undefined || answered === undefined) continue
    results.add(id)
    if (calls.has(id)) continue
    const message = `No tool call found for ${answered} output with call_id ${String(id)}.`
    return plainRefusal(message, 'input')
  }
  for (const [id, called] of calls) {
    if (!results.has(id))
      return plainRefusal(`No tool output found for ${called} ${String(id)}.`, 'input')
  }
  return undefined
}

export interface Prompt {
  readonly text: string
  /** Results of tools after it. */
  readonly resultCount: number
}

/**
 * Finds the last words of the user. Agents add messages of the user between the results of tools,
 * to tell the model what happened; the task is then the message before them, if that one has
 * directives.
 */
export function findPrompt(items: readonly JsonObject[]): Prompt {
  let resultCount = 0
  let last: Prompt | undefined
  for (const [at, item] of items.entries().toArray().toReversed()) {
    if (isResult(item)) resultCount++
    if (item['role'] !== 'user') continue
    const found = { text: contentText(item['content']), resultCount }
    last ??= found
    if (found.text.includes('[[')) return found
    if (!followsResult(items, at)) return last
  }
  return last ?? { text: '', resultCount }
}

function isResult({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.endsWith('call_output')
}

/** Whether a result stands before a message, messages of the user between them left out. */
function followsResult(items: readonly JsonObject[], at: number): boolean {
  for (let before = at - 1; before >= 0; before--) {
    const item = items[before]
    if (item !== undefined && item['role'] !== 'user') return isResult(item)
  }
  return false
}

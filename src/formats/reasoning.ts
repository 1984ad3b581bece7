/**
 * Reads whether a body asks the model to reason: then the vendor may work, and bill, for minutes without a
 * byte of output. Vendors and servers have fields of their own for it, in either format. Models that reason
 * unasked have a flag in the catalogue.
 */
import { asObject, type JsonObject } from './json.ts'

/**
 * `reasoning` of Responses and aggregators, `reasoning_effort` of chat, `thinking` of messages and several
 * chat vendors, `enable_thinking` and `thinking_budget` of Qwen, the template's arguments of vLLM and SGLang.
 */
export const reasoningFields = [
  'reasoning',
  'reasoning_effort',
  'thinking',
  'enable_thinking',
  'thinking_budget',
  'chat_template_kwargs',
] as const

/** Members of such a field that switch reasoning on or off, or say how much of it there may be. */
const switches = [
  'type',
  'enabled',
  'effort',
  'max_tokens',
  'budget_tokens',
  'summary',
  'thinking',
  'enable_thinking',
  'thinking_budget',
] as const

export function asksReasoning(body: JsonObject): boolean {
  return reasoningFields.some((name) => asks(body[name]))
}

function asks(value: unknown): boolean {
  const field = asObject(value)
  if (field === undefined) return isOn(value)
  const given = switches.map((name) => field[name]).filter((one) => one !== undefined)
  return given.length > 0 && given.every(isOn)
}

const offWords: ReadonlySet<unknown> = new Set(['none', 'off', 'disabled', false, 0, null])

function isOn(value: unknown): boolean {
  return value !== undefined && !offWords.has(value)
}

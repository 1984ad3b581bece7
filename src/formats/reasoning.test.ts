// Which bodies ask a model to reason, in the fields of several vendors.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chatCompletions } from './chat/index.ts'
import type { ForwardedOperation } from './format.ts'
import { messagesCreate } from './messages/index.ts'
import { responsesCreate } from './responses/index.ts'

const prompts = [
  [chatCompletions, { messages: [{ role: 'user', content: 'hello' }] }],
  [messagesCreate, { messages: [{ role: 'user', content: 'hello' }] }],
  [responsesCreate, { input: 'hello' }],
] as const

function asksReasoning(operation: ForwardedOperation, body: object): boolean {
  const bytes = Buffer.from(JSON.stringify({ model: 'a', ...body }))
  const facts = operation.readRequest(bytes, { requireMaxTokens: false })
  assert.ok(!('kind' in facts), JSON.stringify(facts))
  return facts.asksReasoning === true
}

const asking: readonly object[] = [
  { reasoning_effort: 'high' },
  { reasoning_effort: 'minimal' },
  { reasoning: { effort: 'low' } },
  { reasoning: { summary: 'auto' } },
  { reasoning: { max_tokens: 2000 } },
  { reasoning: { enabled: true, exclude: true } },
  { thinking: { type: 'enabled', budget_tokens: 4096 } },
  { thinking: { type: 'adaptive', display: 'omitted' } },
  { enable_thinking: true },
  { thinking_budget: -1 },
  { chat_template_kwargs: { enable_thinking: true } },
  { chat_template_kwargs: { thinking: true } },
]

const notAsking: readonly object[] = [
  {},
  { reasoning_effort: 'none' },
  { reasoning_effort: null },
  { reasoning: null },
  { reasoning: {} },
  { reasoning: { effort: 'none', summary: 'auto' } },
  { reasoning: { enabled: false } },
  { reasoning: { exclude: true } },
  { thinking: { type: 'disabled' } },
  { thinking: { type: 'enabled', budget_tokens: 0 } },
  { enable_thinking: false },
  { thinking_budget: 0 },
  { chat_template_kwargs: { enable_thinking: false } },
  { chat_template_kwargs: { add_generation_prompt: true } },
  { metadata: { reasoning_effort: 'high', thinking: { type: 'enabled' } } },
]

for (const [operation, prompt] of prompts)
  test(`a body of ${operation.name} asks for reasoning by any of the fields for it`, () => {
    for (const fields of asking)
      assert.ok(asksReasoning(operation, { ...prompt, ...fields }), JSON.stringify(fields))
    for (const fields of notAsking)
      assert.ok(!asksReasoning(operation, { ...prompt, ...fields }), JSON.stringify(fields))
  })

test('thinking of an earlier answer does not ask for more', () => {
  const thought = { type: 'thinking', thinking: 'Well.', signature: 'x' }
  const messages = [{ role: 'assistant', content: [thought], reasoning: 'Well.' }]
  for (const operation of [chatCompletions, messagesCreate])
    assert.ok(!asksReasoning(operation, { messages }))
})

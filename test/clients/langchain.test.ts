/** LangChain's chat models of both formats: they wrap their own versions of the vendors' SDKs. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { HumanMessage, type ToolMessage, type UsageMetadata } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import { startClientRig, type Caller, type ClientRig } from './support/client-rig.ts'

let rig: ClientRig
before(async () => {
  rig = await startClientRig()
})
after(() => rig.close())

const weather = tool(() => 'Sunny.', {
  name: 'weather',
  description: 'The weather of a place.',
  schema: z.object({ place: z.string() }),
})

interface Way {
  readonly name: string
  readonly model: (caller: Caller) => BaseChatModel
}

const ways: readonly Way[] = [
  {
    name: 'ChatAnthropic',
    model: (caller) =>
      new ChatAnthropic({
        model: 'large-1',
        maxTokens: 200,
        apiKey: caller.key,
        anthropicApiUrl: rig.messagesUrl,
        clientOptions: { defaultHeaders: caller.headers },
      }),
  },
  {
    name: 'ChatOpenAI',
    model: (caller) =>
      new ChatOpenAI({
        model: 'chat-1',
        maxTokens: 200,
        apiKey: caller.key,
        configuration: { baseURL: rig.chatUrl, defaultHeaders: caller.headers },
      }),
  },
]

for (const { name, model } of ways)
  describe(name, () => {
    test('gets an answer and its usage', async () => {
      const caller = await rig.caller()
      const answer = await model(caller).invoke('Good morning')
      assert.match(answer.text, /simulated.*Good morning/s)
      const counts = rig.served(caller)[0]?.usage?.counts
      // The library's type of a model's answer loses what the answer has.
      const { usage_metadata: usage } = answer as unknown as { usage_metadata?: UsageMetadata }
      assert.equal(usage?.input_tokens, counts?.input)
      assert.equal(usage?.output_tokens, counts?.output)
      await rig.assertChargedAsServed(caller)
    })

    test('streams', async () => {
      const caller = await rig.caller()
      let text = ''
      for await (const chunk of await model(caller).stream('Stream')) text += chunk.text
      assert.match(text, /simulated.*Stream/s)
      await rig.assertChargedAsServed(caller)
    })

    test('handles a tool call', async () => {
      const caller = await rig.caller()
      const bound = model(caller).bindTools?.([weather])
      assert.ok(bound !== undefined)
      const question = new HumanMessage('Use the weather tool.')
      const asked = await bound.invoke([question])
      const call = asked.tool_calls?.[0]
      assert.equal(call?.name, 'weather')
      const result: ToolMessage = await weather.invoke({ ...call, type: 'tool_call' })
      const answered = await bound.invoke([question, asked, result])
      assert.match(answered.text, /simulated/)
      assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
    })

    test('reports an exhausted balance after one attempt', async () => {
      const caller = await rig.caller({ balance_usd: '0.0001' })
      await assert.rejects(model(caller).invoke('x'), /balance 0\.0001 USD/)
      assert.equal(rig.attempts(caller).length, 1)
    })
  })

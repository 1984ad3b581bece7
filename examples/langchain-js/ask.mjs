import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { z } from 'zod'

const gateway = process.env.GATEWAY_URL ?? 'http://127.0.0.1:8080'
const apiKey = process.env.GATEWAY_KEY

const configuration = { baseURL: `${gateway}/beta/v1` }

const models = [
  new ChatAnthropic({
    model: 'large-1',
    maxTokens: 200,
    apiKey,
    anthropicApiUrl: `${gateway}/alpha`,
  }),
  ...[false, true].map(
    (useResponsesApi) =>
      new ChatOpenAI({ model: 'chat-1', maxTokens: 200, useResponsesApi, apiKey, configuration }),
  ),
]

const weather = tool(({ place }) => `Sunny in ${place}.`, {
  name: 'weather',
  description: 'The weather of a place.',
  schema: z.object({ place: z.string() }),
})

for (const model of models) {
  const whole = await model.invoke('Good morning')
  console.log('whole:', whole.text)

  process.stdout.write('stream: ')
  for await (const chunk of await model.stream('Good evening')) process.stdout.write(chunk.text)
  console.log()

  const question = new HumanMessage('Use the weather tool.')
  const withTools = model.bindTools([weather])
  const asked = await withTools.invoke([question])
  const results = await Promise.all(asked.tool_calls.map((call) => weather.invoke(call)))
  const answer = await withTools.invoke([question, asked, ...results])
  console.log('tool:', answer.text)
}

const embedder = new OpenAIEmbeddings({ model: 'embed-1', apiKey, configuration })
const embeddings = await embedder.embedDocuments(['soup', 'bread'])
console.log('embeddings:', embeddings.length)

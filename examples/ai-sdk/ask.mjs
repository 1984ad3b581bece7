import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { embedMany, generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'

const gateway = process.env.GATEWAY_URL ?? 'http://127.0.0.1:8080'
const apiKey = process.env.GATEWAY_KEY
const anthropic = createAnthropic({ baseURL: `${gateway}/alpha/v1`, apiKey })
const openai = createOpenAI({ baseURL: `${gateway}/beta/v1`, apiKey })

const weather = tool({
  description: 'The weather of a place.',
  inputSchema: z.object({ place: z.string() }),
  execute: ({ place }) => `Sunny in ${place}.`,
})

for (const model of [anthropic('large-1'), openai.chat('chat-1'), openai('chat-1')]) {
  const whole = await generateText({ model, prompt: 'Good morning', maxOutputTokens: 200 })
  console.log('whole:', whole.text)

  const stream = streamText({ model, prompt: 'Good evening', maxOutputTokens: 200 })
  process.stdout.write('stream: ')
  for await (const piece of stream.textStream) process.stdout.write(piece)
  const usage = await stream.usage
  console.log(`\nusage: ${usage.inputTokens} tokens in, ${usage.outputTokens} out`)

  const answer = await generateText({
    model,
    prompt: 'Use the weather tool.',
    maxOutputTokens: 200,
    tools: { weather },
    stopWhen: stepCountIs(5),
  })
  console.log('tool:', answer.text)
}

const values = ['soup', 'bread']
const { embeddings } = await embedMany({ model: openai.embeddingModel('embed-1'), values })
console.log('embeddings:', embeddings.length)

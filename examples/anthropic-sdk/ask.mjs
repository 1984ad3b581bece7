import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'

const client = new Anthropic({
  baseURL: `${process.env.GATEWAY_URL ?? 'http://127.0.0.1:8080'}/alpha`,
  apiKey: process.env.GATEWAY_KEY,
})

const ask = (content) => ({
  model: 'large-1',
  max_tokens: 200,
  messages: [{ role: 'user', content }],
})

const message = await client.messages.create(ask('Good morning'))
console.log('whole:', message.content[0].text)

const stream = client.messages.stream(ask('Good evening'))
process.stdout.write('stream: ')
stream.on('text', (text) => process.stdout.write(text))
const { usage } = await stream.finalMessage()
console.log(`\nusage: ${usage.input_tokens} tokens in, ${usage.output_tokens} out`)

const weather = betaTool({
  name: 'weather',
  description: 'The weather of a place.',
  inputSchema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  run: ({ place }) => `Sunny in ${place}.`,
})
const runner = client.beta.messages.toolRunner({
  ...ask('Use the weather tool.'),
  tools: [weather],
})
const answer = await runner
console.log('tool:', answer.content[0].text)

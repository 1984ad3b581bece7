import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: `${process.env.GATEWAY_URL ?? 'http://127.0.0.1:8080'}/alpha`,
  apiKey: process.env.GATEWAY_KEY,
})

const question = {
  model: 'large-1',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Good morning' }],
}

const message = await client.messages.create(question)
console.log(message.content[0].text)

const stream = client.messages.stream(question)
stream.on('text', (text) => process.stdout.write(text))
const { usage } = await stream.finalMessage()
console.log(`\n${usage.input_tokens} tokens in, ${usage.output_tokens} out`)

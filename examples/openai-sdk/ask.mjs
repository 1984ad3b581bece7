import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: `${process.env.GATEWAY_URL ?? 'http://127.0.0.1:8080'}/beta/v1`,
  apiKey: process.env.GATEWAY_KEY,
})

const ask = (content) => ({
  model: 'chat-1',
  max_tokens: 200,
  messages: [{ role: 'user', content }],
})

const completion = await client.chat.completions.create(ask('Good morning'))
console.log('whole:', completion.choices[0].message.content)

const stream = client.chat.completions.stream({
  ...ask('Good evening'),
  stream_options: { include_usage: true },
})
process.stdout.write('stream: ')
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '')
const usage = await stream.totalUsage()
console.log(`\nusage: ${usage.prompt_tokens} tokens in, ${usage.completion_tokens} out`)

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a place.',
    parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
    parse: JSON.parse,
    function: ({ place }) => `Sunny in ${place}.`,
  },
}
const runner = client.chat.completions.runTools({
  ...ask('Use the weather tool.'),
  tools: [weather],
})
console.log('tool:', await runner.finalContent())

const settings = { model: 'chat-1', max_output_tokens: 200 }
const response = await client.responses.create({ ...settings, input: 'Good night' })
console.log('response:', response.output_text)
const events = client.responses.stream({
  ...settings,
  input: 'Sleep well',
  previous_response_id: response.id,
})
process.stdout.write('continued: ')
events.on('response.output_text.delta', ({ delta }) => process.stdout.write(delta))
await events.finalResponse()

const { data } = await client.embeddings.create({ model: 'embed-1', input: ['soup', 'bread'] })
console.log('\nembeddings:', data.length)

import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: `${process.env.GATEWAY_URL ?? 'http://127.0.0.1:8080'}/beta/v1`,
  apiKey: process.env.GATEWAY_KEY,
})

const question = {
  model: 'chat-1',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Good morning' }],
}

const completion = await client.chat.completions.create(question)
console.log(completion.choices[0].message.content)

const stream = client.chat.completions.stream({
  ...question,
  stream_options: { include_usage: true },
})
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '')
const usage = await stream.totalUsage()
console.log(`\n${usage.prompt_tokens} tokens in, ${usage.completion_tokens} out`)

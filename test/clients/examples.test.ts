/** The examples for curl and JavaScript run as their pages say. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startClientRig, type ClientRig } from './support/client-rig.ts'
import { refuseExample, runExample, runLines, type Printed } from './support/example.ts'

let rig: ClientRig
before(async () => {
  rig = await startClientRig()
})
after(() => rig.close())

test('curl', async () => {
  const example = { name: 'curl', command: 'sh ask.sh' }
  const printed = await runExample(rig, example, 4)
  assert.match(printed, /# messages\n\{.*"type":"message"/s)
  assert.match(printed, /# chat, streamed\ndata: .*\n\ndata: \[DONE\]\n\n# response\n/s)
  assert.match(printed, /# response\n\{.*"status":"completed".*\n# embeddings\n\{.*"usage":/s)
  const figures = JSON.parse(printed.slice(printed.lastIndexOf('# usage\n') + 8)) as {
    usage: { requests: number }
  }
  assert.equal(figures.usage.requests, 4)
  await refuseExample(rig, example)
})

const packages = join(import.meta.dirname, 'node_modules')

const chat = ['whole', 'stream', 'tool'] as const
const chatWithUsage = ['whole', 'stream', 'usage', 'tool'] as const

const examples: Readonly<Record<string, readonly Printed[]>> = {
  'anthropic-sdk': chatWithUsage,
  'openai-sdk': [...chatWithUsage, 'response', 'continued', 'embeddings'],
  'ai-sdk': [...chatWithUsage, ...chatWithUsage, ...chatWithUsage, 'embeddings'],
  'langchain-js': [...chat, ...chat, ...chat, 'embeddings'],
}

for (const [name, lines] of Object.entries(examples)) {
  const example = { name, command: 'node ask.mjs', links: { node_modules: packages } }

  test(`${name}: every part of the example is answered and charged as served`, () =>
    runLines(rig, example, lines))

  test(`${name}: shows what is wrong with a wrong key`, () => refuseExample(rig, example))
}

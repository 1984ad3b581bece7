/** The examples for curl and JavaScript run as their pages say. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startClientRig, type ClientRig } from './support/client-rig.ts'
import { refuseExample, runExample } from './support/example.ts'

let rig: ClientRig
before(async () => {
  rig = await startClientRig()
})
after(() => rig.close())

test('curl', async () => {
  const example = { name: 'curl', command: 'sh ask.sh' }
  const printed = await runExample(rig, example, 2)
  assert.match(printed, /# messages\n\{.*"type":"message"/s)
  assert.match(printed, /# chat, streamed\ndata: .*\n\ndata: \[DONE\]\n\n# usage\n/s)
  const figures = JSON.parse(printed.slice(printed.lastIndexOf('# usage\n') + 8)) as {
    usage: { requests: number }
  }
  assert.equal(figures.usage.requests, 2)
  await refuseExample(rig, example)
})

const packages = join(import.meta.dirname, 'node_modules')

/** A whole answer, a stream, and a tool call with its result. */
const chatLines =
  /whole: .*Good morning.*\nstream: .*Good evening.*\n(usage: .*\n)?tool: .*simulated.*\n/

const examples = [
  { name: 'anthropic-sdk', lines: [chatLines], requestCount: 4 },
  { name: 'openai-sdk', lines: [chatLines], requestCount: 4 },
  { name: 'ai-sdk', lines: [chatLines, chatLines], requestCount: 8 },
  { name: 'langchain-js', lines: [chatLines, chatLines], requestCount: 8 },
]

for (const { name, lines, requestCount } of examples) {
  const example = { name, command: 'node ask.mjs', links: { node_modules: packages } }

  test(`${name}: every part of the example is answered and charged as served`, async () => {
    const printed = await runExample(rig, example, requestCount)
    assert.match(printed, new RegExp(`^${lines.map(({ source }) => source).join('')}$`))
  })

  test(`${name}: shows what is wrong with a wrong key`, () => refuseExample(rig, example))
}

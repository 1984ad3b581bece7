/** Every example runs as its page says. The Python example is in python.test.ts. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startClientRig, type ClientRig } from './support/client-rig.ts'
import { runExample } from './support/example.ts'

let rig: ClientRig
before(async () => {
  rig = await startClientRig()
})
after(() => rig.close())

test('curl', async () => {
  const printed = await runExample(rig, { folder: 'curl', command: 'sh ask.sh' })
  assert.match(printed, /# messages\n\{.*"type":"message"/s)
  assert.match(printed, /# chat, streamed\ndata: .*\n\ndata: \[DONE\]\n\n# usage\n/s)
  const figures = JSON.parse(printed.slice(printed.lastIndexOf('# usage\n') + 8)) as {
    usage: { requests: number }
  }
  assert.equal(figures.usage.requests, 2)
})

const sdkExamples = { 'anthropic-sdk': '@anthropic-ai/sdk', 'openai-sdk': 'openai' } as const

for (const [folder, name] of Object.entries(sdkExamples)) {
  test(folder, async () => {
    const printed = await runExample(rig, { folder, command: 'node ask.mjs' })
    assert.match(printed, /simulated.*\n.*simulated.*\n\d+ tokens in, \d+ out\n$/)
  })

  test(`${folder} asks for the version that is tested`, () => {
    const ask = (path: string): string | undefined => {
      const manifest = JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8')) as {
        dependencies?: Record<string, string>
        devDependencies?: Record<string, string>
      }
      return (manifest.dependencies ?? manifest.devDependencies)?.[name]
    }
    assert.equal(ask(`../../examples/${folder}/package.json`), ask('package.json'))
  })
}

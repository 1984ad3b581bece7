/**
 * The examples for Python run as their pages say. Libraries that need different versions of one SDK
 * have separate environments. Where the machine has no usable python3, they are reported as not run.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startClientRig, type ClientRig } from './support/client-rig.ts'
import { refuseExample, runExample, type Example } from './support/example.ts'
import { preparePython } from './support/python.ts'

/** A whole answer, a stream, and a tool call with its result. */
const chatLines =
  /whole: .*Good morning.*\nstream: .*Good evening.*\n(usage: .*\n)?tool: .*simulated.*\n/
const objectLines = /whole: title=.*simulated.*\nstream: title=.*simulated.*\n/

interface PythonExample {
  readonly name: string
  readonly file?: string
  readonly lines: readonly RegExp[]
  readonly requestCount: number
}

const sdkExamples: readonly PythonExample[] = [
  { name: 'python', file: 'ask-anthropic.py', lines: [chatLines], requestCount: 4 },
  { name: 'python', file: 'ask-openai.py', lines: [chatLines], requestCount: 4 },
]

/** By their list of requirements. */
const environments: Readonly<Record<string, readonly PythonExample[]>> = {
  earlier: sdkExamples,
  newest: sdkExamples,
  libraries: [
    { name: 'langchain-python', lines: [chatLines, chatLines], requestCount: 8 },
    { name: 'pydantic-ai', lines: [chatLines, chatLines], requestCount: 8 },
    { name: 'openai-agents', lines: [chatLines], requestCount: 4 },
  ],
  'libraries-openai-2': [
    { name: 'llamaindex', lines: [chatLines], requestCount: 4 },
    { name: 'instructor', lines: [objectLines, objectLines], requestCount: 4 },
    { name: 'litellm', lines: [chatLines, chatLines], requestCount: 8 },
  ],
}

for (const [list, examples] of Object.entries(environments)) {
  const environment = await preparePython(list)
  if (environment.kind === 'ready') describeExamples(list, examples, environment.folder)
  else process.stdout.write(`not run: Python ${list}, because ${environment.reason}\n`)
}

function describeExamples(list: string, examples: readonly PythonExample[], folder: string): void {
  let rig: ClientRig

  describe(`Python ${list}`, () => {
    before(async () => {
      rig = await startClientRig()
    })
    after(() => rig.close())

    for (const { name, file = 'ask.py', lines, requestCount } of examples) {
      const example: Example = {
        name,
        command: `.venv/bin/python ${file}`,
        links: { '.venv': folder },
      }

      test(`${name}: every part of ${file} is answered and charged as served`, async () => {
        const printed = await runExample(rig, example, requestCount)
        assert.match(printed, new RegExp(`^${lines.map(({ source }) => source).join('')}$`))
      })

      test(`${name}: ${file} shows what is wrong with a wrong key`, () =>
        refuseExample(rig, example))
    }
  })
}

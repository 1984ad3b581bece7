/**
 * The examples of Python libraries run as their pages say. Libraries that need different versions of one SDK
 * have separate environments. Where the machine has no usable python3, they are reported as not run.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { scriptDirective } from '../../sandbox/script.ts'
import { runChild } from './support/child.ts'
import { startClientRig, type ClientRig } from './support/client-rig.ts'
import { refuseExample, runLines, type Example, type Printed } from './support/example.ts'
import { preparePython } from './support/python.ts'

interface PythonExample {
  readonly name: string
  readonly lines: readonly Printed[]
  readonly env?: Readonly<Record<string, string>>
}

const chat = ['whole', 'stream', 'tool'] as const
const objects = ['whole', 'stream'] as const

/** By their list of requirements. */
const environments: Readonly<Record<string, readonly PythonExample[]>> = {
  libraries: [
    { name: 'langchain-python', lines: [...chat, ...chat, ...chat, 'embeddings'] },
    { name: 'pydantic-ai', lines: [...chat, ...chat, ...chat, 'embeddings'] },
    { name: 'openai-agents', lines: [...chat, 'continued', ...chat] },
  ],
  'libraries-openai-2': [
    { name: 'llamaindex', lines: [...chat, ...chat, 'embeddings'] },
    { name: 'instructor', lines: [...objects, ...objects, ...objects] },
    {
      name: 'litellm',
      lines: [...chat, ...chat, 'response', 'embeddings'],
      // Otherwise it asks the Internet three times for its list of prices before it goes on without.
      env: { LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    },
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

    for (const { name, lines, env = {} } of examples) {
      const example: Example = {
        name,
        command: '.venv/bin/python ask.py',
        links: { '.venv': folder },
        env,
      }

      test(`${name}: every part of the example is answered and charged as served`, () =>
        runLines(rig, example, lines))

      test(`${name}: shows what is wrong with a wrong key`, () => refuseExample(rig, example))
    }

    if (list === 'libraries')
      test('openai-agents: a loop of three tool calls continues each time from the stored response', () =>
        runAgentsLoop(rig, folder))
  })
}

interface AgentsRequest {
  readonly previous_response_id?: string
  readonly input: readonly { readonly type?: string }[]
}

async function runAgentsLoop(rig: ClientRig, folder: string): Promise<void> {
  const caller = await rig.caller()
  const named = ['Oslo', 'Lima', 'Rome']
  const calls = named.map((place) => ({ name: 'weather', arguments: { place } }))
  const { code, stdout, stderr } = await runChild({
    command: join(folder, 'bin', 'python'),
    args: [join(import.meta.dirname, 'python', 'agents-loop.py')],
    cwd: folder,
    timeoutMs: 300_000,
    env: {
      GATEWAY_URL: rig.chatUrl,
      GATEWAY_KEY: caller.key,
      CLIENT_HEADERS: JSON.stringify({ ...caller.headers, 'x-sandbox': scriptDirective(calls) }),
    },
  })
  assert.equal(code, 0, stderr)
  const report = JSON.parse(stdout) as { places: readonly string[]; answer: string }
  assert.deepEqual(report.places, named)
  assert.match(report.answer, /simulated/)
  const served = rig.served(caller)
  const sent = served.map((record) => JSON.parse(String(record.requestBody)) as AgentsRequest)
  assert.equal(sent.length, 4)
  for (const { previous_response_id, input } of sent.slice(1)) {
    assert.match(previous_response_id ?? '', /^resp_/)
    assert.deepEqual(
      input.map(({ type }) => type),
      ['function_call_output'],
    )
  }
  assert.equal(new Set(served.map(({ channel }) => channel)).size, 1)
  assert.equal((await rig.assertChargedAsServed(caller)).requests, 4)
}

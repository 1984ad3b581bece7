/**
 * The program `llm`, run by its page's settings and command. Where the machine has no usable python3, it is
 * reported as not run.
 */
import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { demoCatalogueText } from '../../sandbox/demo.ts'
import { runAgent, type Agent } from './support/agent.ts'
import { startClientRig, type ClientRig } from './support/client-rig.ts'
import { preparePython } from './support/python.ts'

/** What each model of the page's settings asks for. */
const operationOf = {
  turnpike: 'chat.completions.create',
  'turnpike-responses': 'responses.create',
  'turnpike-completion': 'completions.create',
}

const environment = await preparePython('llm')
if (environment.kind === 'ready') describe('llm', () => describeProgram(environment.python))
else process.stdout.write(`not run: llm, because ${environment.reason}\n`)

function describeProgram(python: string): void {
  const agent: Agent = {
    page: 'llm',
    settings: {
      path: '.config/io.datasette.llm/extra-openai-models.yaml',
      language: 'yaml',
    },
    program: { name: 'llm', path: join(dirname(python), 'llm') },
    env: {},
  }
  let rig: ClientRig
  before(async () => {
    rig = await startClientRig(demoCatalogueText)
  })
  after(() => rig.close())

  for (const [model, operation] of Object.entries(operationOf)) {
    for (const [how, option] of [
      ['streamed', ''],
      ['whole', '--no-stream'],
    ] as const)
      test(`prints an answer of ${operation}, ${how}`, async () => {
        const caller = await rig.caller()
        const options = `-m ${model} ${option}`
        const { code, stdout, stderr, outside } = await runAgent(rig, agent, { caller, options })
        assert.equal(code, 0, stderr)
        assert.match(stdout, /^\[simulated\]/)
        const [served] = rig.served(caller)
        assert.deepEqual(
          { operation: served?.operation, isStream: served?.isStream },
          { operation, isStream: how === 'streamed' },
        )
        assert.deepEqual(outside, [])
        assert.equal((await rig.assertChargedAsServed(caller)).requests, 1)
      })
  }

  for (const model of ['turnpike', 'turnpike-responses'])
    test(`runs a function that ${model} calls, and continues with its result`, async () => {
      const caller = await rig.caller()
      const { code, stdout, stderr } = await runAgent(rig, agent, {
        caller,
        prompt: 'Call the multiply tool.',
        options: `-m ${model} --functions 'def multiply(x: int, y: int) -> int: return 6 * 7'`,
      })
      assert.equal(code, 0, stderr)
      assert.match(stdout, /simulated/)
      const second = String(rig.served(caller)[1]?.requestBody)
      assert.match(second, /("role":\s*"tool"|"type":\s*"function_call_output").*"42"/)
      assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
    })

  test('prints our message for an exhausted balance, and does not try again', async () => {
    const caller = await rig.caller({ balance_usd: '0.0001' })
    const { code, stderr } = await runAgent(rig, agent, { caller })
    assert.equal(code, 1)
    assert.match(stderr, /The balance is too low.*balance 0\.0001 USD/)
    assert.equal(rig.attempts(caller).length, 1)
    await rig.assertUntouched(caller)
  })
}

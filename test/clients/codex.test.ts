/** Codex CLI, run by its page's settings and command: it speaks nothing but the Responses API. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { stringify } from 'yaml'
import { demoCatalogue } from '../../sandbox/demo.ts'
import { runAgent } from './support/agent.ts'
import { codex, codexTasks } from './support/agents.ts'
import { startClientRig, type Caller, type ClientRig } from './support/client-rig.ts'

let rig: ClientRig
before(async () => {
  rig = await startClientRig(catalogue)
})
after(() => rig.close())

/** The demo's, and models that Codex knows: it offers these other tools. */
function catalogue(url: string): string {
  const { vendors, models, channels } = demoCatalogue(url)
  const known = Object.keys(codexTasks)
  return stringify({
    vendors,
    models: {
      ...models,
      ...Object.fromEntries(known.map((name) => [name, models['chat-1']])),
    },
    channels: {
      'alpha-main': channels['alpha-main'],
      'beta-main': { ...channels['beta-main'], models: ['chat-1', ...known] },
    },
  })
}

/** Method, path and status of each request, in order. */
function asked(caller: Caller): readonly string[] {
  return rig.attempts(caller).map(({ method, url, status }) => `${method} ${url} ${status}`)
}

const posted = 'POST /beta/v1/responses 200'
const builtIn = `model = "chat-1"
openai_base_url = "http://127.0.0.1:8080/beta/v1"
`

test('reads a file, edits it and runs a command, streamed', async () => {
  const caller = await rig.caller()
  const { code, stderr, greeting, outside } = await runAgent(rig, codex, {
    caller,
    script: codex.task,
  })
  assert.equal(code, 0, stderr)
  assert.equal(greeting, 'Good evening\n')
  const served = rig.served(caller)
  assert.deepEqual(
    served.map(({ isStream }) => isStream),
    [true, true, true, true],
  )
  const last = served.at(-1)?.requestBody ?? ''
  for (const result of ['Good morning', 'Success. Updated the following files', '13 greeting.txt'])
    assert.ok(last.includes(result), `the last request does not report ${result}`)
  assert.deepEqual(asked(caller), [posted, posted, posted, posted])
  assert.deepEqual(outside, [])
  assert.equal((await rig.assertChargedAsServed(caller)).requests, 4)
})

for (const [model, task] of Object.entries(codexTasks))
  test(`edits the file by the tools that it offers ${model}`, async () => {
    const caller = await rig.caller()
    const options = `-m ${model}`
    const run = { caller, options, script: () => task }
    const { code, stderr, greeting } = await runAgent(rig, codex, run)
    assert.equal(code, 0, stderr)
    assert.equal(greeting, 'Good evening\n')
    assert.equal((await rig.figures(caller)).requests, task.length + 1)
  })

test('goes on with requests after one WebSocket that is refused', async () => {
  const caller = await rig.caller()
  const agent = { ...codex, env: { CODEX_API_KEY: caller.key } }
  const settings = `${builtIn}web_search = "disabled"\n`
  const { code, stderr, greeting } = await runAgent(rig, agent, {
    caller,
    settings,
    script: codex.task,
  })
  assert.equal(code, 0, stderr)
  assert.equal(greeting, 'Good evening\n')
  const [upgrade, ...rest] = asked(caller)
  assert.equal(upgrade, 'GET /beta/v1/responses 426')
  assert.deepEqual(rest, [posted, posted, posted, posted])
  await rig.assertChargedAsServed(caller)
})

test('runs with the web search that it offers to models it does not know', async () => {
  const caller = await rig.caller()
  const agent = { ...codex, env: { CODEX_API_KEY: caller.key } }
  const { code, stdout, stderr } = await runAgent(rig, agent, { caller, settings: builtIn })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^\[simulated\]/)
  const { requestBody } = rig.gateway.sandbox.log.records.at(-1) ?? {}
  assert.match(requestBody?.toString() ?? '', /"type":"web_search"/)
  await rig.assertChargedAsServed(caller)
})

test('prints our message for an exhausted balance', async () => {
  const caller = await rig.caller({ balance_usd: '0.0001' })
  const { code, stderr } = await runAgent(rig, codex, { caller })
  assert.equal(code, 1)
  assert.match(stderr, /402 Payment Required: The balance is too low.*balance 0\.0001 USD/)
  await rig.assertUntouched(caller)
})

test('asks again after a stream that broke off, and only the whole answer is charged', async () => {
  const caller = await rig.caller()
  rig.gateway.sandbox.faults.set('beta-main', ['cut_event=6'])
  const { code, stdout, stderr } = await runAgent(rig, codex, { caller })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^\[simulated\]/)
  assert.equal(rig.attempts(caller).length, 2)
  assert.equal((await rig.assertChargedAsServed(caller)).requests, 1)
})

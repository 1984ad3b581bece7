/** Coding agents, each run by its page's settings and command, work through a task with tools. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { demoCatalogueText } from '../../sandbox/demo.ts'
import type { ServedRecord } from '../../sandbox/served-record.ts'
import { runAgent } from './support/agent.ts'
import {
  claudeCode,
  isInstalled,
  opencode,
  otherAgents,
  type CodingAgent,
} from './support/agents.ts'
import { startClientRig, type Caller, type ClientRig } from './support/client-rig.ts'
import { codeBlock, readPage } from './support/page.ts'
import { variants } from '../support/variants.ts'

let rig: ClientRig
before(async () => {
  rig = await startClientRig(demoCatalogueText)
})
after(() => rig.close())

for (const agent of variants([claudeCode, opencode, ...otherAgents], (one) => one === opencode))
  if (isInstalled(agent)) describe(agent.title, () => describeAgent(agent))
  else process.stdout.write(`not run: ${agent.title}, because ${agent.package} is not installed\n`)

if (isInstalled(opencode))
  test('opencode works through the same task with the Responses API', async () => {
    const settings = codeBlock(readPage(opencode.page), 'json')
    const served = await workTask(opencode, settings.replace('openai-compatible', 'openai'))
    assert.ok(served.every(({ operation }) => operation === 'responses.create'))
  })

function describeAgent(agent: CodingAgent): void {
  test('reads a file, edits it and runs a command, streamed', async () => {
    await workTask(agent)
  })

  test('prints our message for an exhausted balance, and does not try again', async () => {
    const caller = await rig.caller({ balance_usd: '0.0001' })
    const { code, stdout, stderr } = await runAgent(rig, agent, { caller })
    assert.notEqual(code, 0)
    assert.match(stdout + stderr, /The balance is too low.*balance 0\.0001 USD/)
    assertNotRepeated(caller)
    await rig.assertUntouched(caller)
  })

  test('ends with a message when its key is wrong', async () => {
    const caller = await rig.caller()
    const unknown = { ...caller, key: `${caller.key.slice(0, -2)}xx` }
    const { code, stdout, stderr } = await runAgent(rig, agent, { caller: unknown })
    assert.notEqual(code, 0)
    assert.match(stdout + stderr, /API key|\/login/)
    assertNotRepeated(unknown)
    await rig.assertUntouched(caller)
  })
}

/** Some also ask for the models, or for a title of the session at the same time. */
function assertNotRepeated(caller: Caller): void {
  const counts = new Map<string, number>()
  for (const { method, url, headers } of rig.attempts(caller)) {
    const request = `${method} ${url} ${headers['content-length'] ?? 0}`
    counts.set(request, (counts.get(request) ?? 0) + 1)
  }
  assert.ok(
    [...counts.values()].every((count) => count <= 2),
    JSON.stringify([...counts]),
  )
}

/** Lets it do the task, with the page's settings or others; resolves with what the vendor served. */
async function workTask(agent: CodingAgent, settings?: string): Promise<readonly ServedRecord[]> {
  const caller = await rig.caller()
  const { code, stderr, greeting, count, outside } = await runAgent(rig, agent, {
    caller,
    script: agent.task,
    settings,
  })
  assert.equal(code, 0, stderr)
  assert.equal(greeting, 'Good evening\n')
  assert.equal(count, '13 greeting.txt\n')
  const served = rig.served(caller)
  assert.ok(served.every(({ isStream }) => isStream))
  const last = served.at(-1)?.requestBody ?? ''
  const results = ['Good morning', 'Good evening']
  if (agent.mayLoseOutput !== true) results.push('13 greeting.txt')
  for (const result of results)
    assert.ok(last.includes(result), `the last request does not report ${result}`)
  await rig.assertChargedAsServed(caller)
  const page = readPage(agent.page)
  assert.deepEqual(
    outside.filter((host) => !page.includes(`\`${host.replace(/:443$/, '')}\``)),
    [],
    'it asks for hosts that its page does not name',
  )
  return served
}

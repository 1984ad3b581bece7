/** Claude Code, the program itself: one prompt on its command line, answered through the gateway. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runClaudeCode } from './support/claude-code.ts'
import { startClientRig, type ClientRig } from './support/client-rig.ts'

let rig: ClientRig
before(async () => {
  rig = await startClientRig()
})
after(() => rig.close())

for (const keyVariable of ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'] as const)
  test(`answers a one-line prompt with its key in ${keyVariable}`, async () => {
    const caller = await rig.caller()
    const prompt = 'Say good morning in one line.'
    const { code, stdout, stderr } = await runClaudeCode(rig, caller, { prompt, keyVariable })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^\[simulated\] .* Model large-1 was sent/)
    const [record] = rig.served(caller)
    assert.ok(record?.requestBody?.includes(prompt))
    assert.equal((await rig.assertChargedAsServed(caller)).requests, rig.served(caller).length)
  })

test('reports the usage that the vendor counted and the gateway charged', async () => {
  const caller = await rig.caller()
  const run = { prompt: 'Hello', args: ['--output-format', 'json'] }
  const { stdout, stderr } = await runClaudeCode(rig, caller, run)
  const report = JSON.parse(stdout) as {
    readonly is_error: boolean
    readonly result: string
    readonly usage: { readonly input_tokens: number; readonly output_tokens: number }
  }
  assert.equal(report.is_error, false, stderr)
  assert.match(report.result, /simulated/)
  const figures = await rig.assertChargedAsServed(caller)
  assert.equal(report.usage.input_tokens, figures.input_tokens)
  assert.equal(report.usage.output_tokens, figures.output_tokens)
})

test('calls one of its tools and continues with the result', async () => {
  const caller = await rig.caller()
  const { code, stdout, stderr } = await runClaudeCode(rig, caller, {
    prompt: 'Call the Read tool.',
  })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /simulated/)
  const [, second] = rig.served(caller)
  assert.ok(second?.requestBody?.includes('"tool_result"'))
  assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
})

test('prints our message for an exhausted balance, after one attempt', async () => {
  const caller = await rig.caller({ balance_usd: '0.0001' })
  const { code, stdout } = await runClaudeCode(rig, caller, { prompt: 'Hello' })
  assert.equal(code, 1)
  assert.match(stdout, /402 The balance is too low.*balance 0\.0001 USD/)
  assert.equal(rig.attempts(caller).length, 1)
  await rig.assertUntouched(caller)
})

test('prints our message for the daily limit, after one attempt', async () => {
  const caller = await rig.caller({ daily_usd: '0.0001' })
  const { code, stdout } = await runClaudeCode(rig, caller, { prompt: 'Hello' })
  assert.equal(code, 1)
  assert.match(stdout, /daily limit.*exceeded.*quota will reset at 2026-11-22T00:00:00/)
  assert.equal(rig.attempts(caller).length, 1)
  await rig.assertUntouched(caller)
})

for (const keyVariable of ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'] as const)
  test(`ends after one attempt with a wrong key in ${keyVariable}`, async () => {
    const caller = await rig.caller()
    const unknown = { ...caller, key: `${caller.key.slice(0, -2)}xx` }
    const { code, stdout } = await runClaudeCode(rig, unknown, { prompt: 'Hello', keyVariable })
    assert.equal(code, 1)
    // Its own words for a refused key.
    assert.match(stdout, /\/login|API key/)
    assert.equal(rig.attempts(caller).length, 1)
    await rig.assertUntouched(caller)
  })

test('does not notice that the main channel failed', async () => {
  const caller = await rig.caller()
  const run = { prompt: 'Hello', model: 'guarded-alpha-0' }
  const { code, stderr } = await runClaudeCode(rig, caller, run)
  assert.equal(code, 0, stderr)
  rig.assertFailedOver(caller, { vendor: 'alpha', index: 0, answers: 1 })
  assert.equal(rig.attempts(caller).length, 1)
  await rig.assertChargedAsServed(caller)
})

test('gets an error when the vendor breaks off, and nothing is charged', async () => {
  const caller = await rig.caller()
  const run = { prompt: 'Hello', model: 'lone-alpha-1', directives: 'cut_event=6' }
  const { code, stdout } = await runClaudeCode(rig, caller, run)
  assert.equal(code, 1)
  assert.match(stdout, /API Error/)
  assert.ok(rig.served(caller).length >= 1)
  await rig.assertNotCharged(caller)
})

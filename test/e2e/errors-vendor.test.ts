/**
 * Every error the two vendors are known to give, as a client of the gateway gets to see it when no
 * channel answers better: the client's own faults to the byte, the operator's troubles never.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorPresets, operatorIdentifiers } from '../../sandbox/error-presets.ts'
import { demoCredentials } from '../../sandbox/demo.ts'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import { type Scenario, scenario } from '../support/scenario.ts'
import { post, type WireAnswer } from '../support/http-client.ts'

const secretTexts: readonly string[] = [
  ...Object.values(operatorIdentifiers),
  ...Object.values(demoCredentials),
  'sandbox-operator',
  'sk-sandbox',
  'alpha-main',
  'beta-main',
]

function assertNoSecrets(answer: WireAnswer, sandboxUrl: string, name: string): void {
  const seen = JSON.stringify(answer.rawHeaders) + answer.body.toString()
  for (const text of [...secretTexts, sandboxUrl, new URL(sandboxUrl).host])
    assert.ok(!seen.includes(text), `${name} shows ${text}: ${seen}`)
}

type FormatName = 'messages' | 'chat'

function ask(
  gateway: Scenario,
  key: string,
  format: FormatName,
  options: { readonly stream: boolean; readonly marker: string },
): Promise<WireAnswer> {
  const { stream, marker } = options
  const headers = { 'x-sandbox-marker': marker }
  return format === 'messages'
    ? post(gateway.url + messagesPath, key, messagesRequest({ stream }), headers)
    : post(gateway.url + chatPath, key, chatRequest({ stream }), headers)
}

/** The operator's account, credential, money or address: nothing of it is for a client. */
function isOperatorTrouble(name: string, status: number): boolean {
  if ([401, 402, 403, 405].includes(status) || ['404_page', '404_path'].includes(name)) return true
  if (/quota|credit|spend_limit|usage_limit|hard_limit|workspace_limits|on_hold/.test(name))
    return true
  return /^400_(?:usage_limits|cmek_key_disabled|cmek_key_network_blocked|claude_code_key_creator_not_member)$/.test(
    name,
  )
}

const presets = [...errorPresets].map(([full, preset]) => {
  const dot = full.indexOf('.')
  return { format: full.slice(0, dot) as FormatName, name: full.slice(dot + 1), preset }
})

for (const format of ['messages', 'chat'] as const) {
  const rows = presets.filter((row) => row.format === format)

  test(`every ${format} error is the client's to the byte, or the gateway's own`, async (t) => {
    const gateway = await scenario()
    t.after(() => gateway.close())
    const account = await gateway.createAccount()
    assert.ok(rows.length > 20)
    for (const { name, preset } of rows)
      for (const stream of [false, true]) {
        const marker = `${name}-${stream}`
        gateway.sandbox.faults.set('*', { error: name })
        const answer = await ask(gateway, account.key, format, { stream, marker })
        assertNoSecrets(answer, gateway.sandbox.url, name)
        assertIds(format, answer, name)
        if (isOperatorTrouble(name, preset.status)) {
          assert.equal(answer.status, 502, name)
          continue
        }
        const isMissing = preset.status === 404 && /\bmodel\b/.test(preset.message)
        assert.equal(answer.status, isMissing ? 404 : preset.status, name)
        const said = gateway.sandbox.log.forMarker(marker).at(-1)?.responseBody?.toString() ?? ''
        const isShown = answer.body.toString() === said
        const isTelling = secretTexts.some((text) => said.includes(text))
        assert.equal(isShown, !isTelling && !isMissing, `${name}: ${answer.body.toString()}`)
        if (isShown) assert.match(String(answer.headers['content-type']), /json|html/)
      }
    assert.equal((await gateway.audit()).clean, true)
  })

  test(`every ${format} error as a stream's first event becomes a status`, async (t) => {
    const gateway = await scenario()
    t.after(() => gateway.close())
    const account = await gateway.createAccount()
    for (const { name, preset } of rows) {
      if (preset.page !== undefined) continue
      gateway.sandbox.faults.set('*', { errorFirst: name, pings: 1 })
      const answer = await ask(gateway, account.key, format, { stream: true, marker: name })
      assertNoSecrets(answer, gateway.sandbox.url, name)
      assertIds(format, answer, name)
      assert.ok(answer.status >= 400 && answer.isComplete, name)
      assert.match(String(answer.headers['content-type']), /json/)
      // An event has no status of its own: a model the operator may not use is one that is missing.
      const status = preset.code === 'model_not_found' ? 404 : 502
      if (isOperatorTrouble(name, preset.status)) assert.equal(answer.status, status, name)
    }
  })

  test(`every ${format} error in the middle of a stream ends it without naming the operator's account`, async (t) => {
    const gateway = await scenario()
    t.after(() => gateway.close())
    const account = await gateway.createAccount()
    for (const { name, preset } of rows) {
      if (preset.page !== undefined) continue
      gateway.sandbox.faults.set('*', { errorAt: 5, eventError: name })
      const answer = await ask(gateway, account.key, format, { stream: true, marker: name })
      assertNoSecrets(answer, gateway.sandbox.url, name)
      assert.equal(answer.status, 200)
      assert.equal(answer.isComplete, false, name)
      const text = answer.body.toString()
      const events = text.match(format === 'messages' ? /^event: error$/gm : /^data: \{"error"/gm)
      assert.equal(events?.length, 1, `${name}: ${text}`)
      assert.ok(text.endsWith('\n\n'))
    }
  })
}

function assertIds(format: FormatName, answer: WireAnswer, name: string): void {
  const header = format === 'messages' ? 'request-id' : 'x-request-id'
  const id = answer.headers[header]
  assert.ok(id !== undefined && answer.headers['x-turnpike-request-id'] !== undefined, name)
  if (format === 'chat' || !String(answer.headers['content-type']).includes('json')) return
  const body = JSON.parse(answer.body.toString()) as { request_id: string }
  assert.equal(body.request_id, id, name)
}

test("a vendor's own error reaches no client while another channel is left", async (t) => {
  const gateway = await scenario()
  t.after(() => gateway.close())
  const account = await gateway.createAccount()
  for (const error of ['429', '500', '503', '529', '401', '403', '402', '400_credit', '404']) {
    gateway.sandbox.faults.set('alpha-main', { error })
    const answer = await ask(gateway, account.key, 'messages', { stream: false, marker: error })
    assert.equal(answer.status, 200, error)
  }
})

test("a vendor's long `retry-after` is shortened for the client", async (t) => {
  const gateway = await scenario()
  t.after(() => gateway.close())
  const account = await gateway.createAccount()
  const retryAfter = async (value: string): Promise<string | undefined> => {
    gateway.sandbox.faults.set('*', { error: '429_ramp_limit_exceeded', retryAfter: value })
    const answer = await ask(gateway, account.key, 'messages', { stream: false, marker: value })
    assert.equal(answer.status, 429)
    return answer.headers['retry-after']
  }
  assert.equal(await retryAfter('3'), '3')
  assert.equal(await retryAfter('60'), '60')
  assert.equal(await retryAfter('86400'), '60')
  assert.equal(await retryAfter('Wed, 21 Nov 2029 07:28:00 GMT'), '60')
  assert.equal(await retryAfter('soon'), '5', 'as long as the channel rests')
  assert.equal(await retryAfter('none'), undefined)
})

test('a replaced 429 keeps the wait that its vendor asks for', async (t) => {
  const gateway = await scenario({ vendors: 'scripted' })
  t.after(() => gateway.close())
  const account = await gateway.createAccount()
  const replaced = async (headers: Record<string, string>): Promise<string | undefined> => {
    gateway.resetHealth()
    gateway.scripted.answer((response) => {
      response.writeHead(429, { 'content-type': 'application/json', ...headers })
      response.end('{"error":{"type":"rate_limit_error","message":"Limit of org-abcdef12."}}')
    })
    const answer = await ask(gateway, account.key, 'chat', { stream: false, marker: 'replaced' })
    assert.equal(answer.status, 429)
    assert.match(answer.body.toString(), /accepts no more requests/)
    return answer.headers['retry-after']
  }
  assert.equal(await replaced({ 'retry-after': '39' }), '39')
  assert.equal(await replaced({ 'retry-after-ms': '2500' }), '3')
  assert.equal(await replaced({ 'retry-after': '600' }), '60')
  assert.equal(await replaced({ 'retry-after': 'soon' }), '5')
  assert.equal(await replaced({}), '5')
})

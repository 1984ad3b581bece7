/**
 * Answers with a list that fills many megabytes, as embeddings have it: they pass as they came and are
 * charged by their count. One that is larger than the gateway keeps is nobody's fault: a client could
 * otherwise switch channels off by asking for much.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send } from '../support/http-client.ts'
import { withScenario } from '../support/scenario.ts'
import {
  embeddingsPath,
  embedInputPicos,
  textCatalogue,
  textRequest,
} from '../support/text-operations.ts'

const fields = { model: 'embed-1', input: ['a', 'b'] }

function largeAnswer(bytes: number, isCountFirst: boolean): Buffer {
  const vector = `{"embedding":[${Array(1_000).fill('-0.0123456').join(',\n')}]}`
  const data = `"data": [${Array(Math.ceil(bytes / vector.length))
    .fill(vector)
    .join(',')}]`
  const usage = '"model": "embed-1", "usage": {"prompt_tokens": 12, "total_tokens": 12}'
  return Buffer.from(isCountFirst ? `{${usage},${data}}` : `{${data},${usage}}\n`)
}

for (const isCountFirst of [false, true])
  test(`an answer of 8 MB passes unchanged and is charged by the count ${isCountFirst ? 'before' : 'behind'} its list`, () =>
    withScenario({ vendors: 'scripted', catalogue: textCatalogue }, async (gateway) => {
      const body = largeAnswer(8_000_000, isCountFirst)
      gateway.scripted.answer((response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        for (let at = 0; at < body.length; at += 100_000)
          response.write(body.subarray(at, at + 100_000))
        response.end()
      })
      const key = gateway.account.key
      const answer = await send(gateway.url + embeddingsPath, textRequest({ key, fields }))
      assert.ok(answer.body.equals(body))
      const { amountPicos, chargeCount } = await gateway.recorded(answer)
      assert.deepEqual([amountPicos, chargeCount], [12n * embedInputPicos, 1])
    }))

for (const sandbox of ['', 'gzip'])
  test(`an answer larger than the gateway keeps is an error, tried once, free, and blames no channel ${sandbox}`, () => {
    const settings = { answer_max_bytes: '100000' }
    return withScenario({ catalogue: textCatalogue, settings }, async (gateway) => {
      for (let asked = 0; asked < 6; asked++) {
        const marker = `large-${asked}`
        const large = { ...fields, input: Array(10).fill('a') }
        const { key } = gateway.account
        const ask = textRequest({ key, fields: large, marker, ...(sandbox !== '' && { sandbox }) })
        const answer = await send(gateway.url + embeddingsPath, ask)
        assert.equal(answer.status, 502)
        assert.match(answer.text, /larger than this gateway passes on/)
        assert.equal(answer.headers['x-should-retry'], 'false')
        assert.deepEqual(gateway.tried(marker), ['beta-main'])
        assert.equal((await gateway.recorded(answer)).amountPicos, 0n)
      }
      assert.equal(gateway.grade('beta-main', 'embed-1'), 'on')
    })
  })

/** Where a command works: by option or environment, and in which order. Nothing is sent to a wrong place. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { makeSecret } from '../../src/access/key.ts'
import { newFolder, run, type Ran } from '../support/command-line.ts'

const folder = newFolder()
const token = { TURNPIKE_TOKEN: makeSecret('admin') }

function type(line: string, environment: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return run(folder, line.split(' '), environment)
}

async function assertWrong(
  line: string,
  message: RegExp,
  environment?: Record<string, string>,
): Promise<void> {
  const { code, out, error } = await type(line, environment)
  assert.deepEqual({ line, code, out }, { line, code: 2, out: '' })
  assert.match(error, message)
}

describe('a command works', () => {
  it('where --server, then TURNPIKE_SERVER says, or on the store', async () => {
    const environment = { ...token, TURNPIKE_SERVER: 'http://127.0.0.1:2' }
    const there = await type('account list --server http://127.0.0.1:1', environment)
    assert.match(there.error, /^turnpike: http:\/\/127\.0\.0\.1:1 refuses the connection/)
    const around = await type('account list', environment)
    assert.match(around.error, /^turnpike: http:\/\/127\.0\.0\.1:2 refuses the connection/)
    for (const [line, given] of [
      ['account list --local', environment],
      ['account list', {}],
    ] as const)
      assert.match((await type(line, given)).error, /There is no store at/)
  })

  it('nowhere where options contradict each other or the token is missing', async () => {
    const { TURNPIKE_TOKEN: secret } = token
    await assertWrong('account list --server https://a.example --local', /Give only one of them/)
    await assertWrong('account list --server https://a.example', /Set TURNPIKE_TOKEN to an admin/)
    for (const command of ['migrate', 'restore x', 'serve', 'start', 'sandbox', 'init'])
      await assertWrong(`${command} --server https://a.example`, /on this host only/)
    await assertWrong('migrate', /TURNPIKE_SERVER names a server/, {
      TURNPIKE_SERVER: 'https://a.example',
    })
    for (const wrong of ['secret', makeSecret('client'), 'ad_short', `${secret} ${secret}`])
      await assertWrong('account list --server https://a.example', /must be an admin token: ad_/, {
        TURNPIKE_TOKEN: wrong,
      })
  })

  it('never at what is no address, or would show the token to others', async () => {
    for (const [address, message] of [
      ['ops.example:8081', /Write it as https:\/\/HOST:PORT/],
      ['ftp://ops.example', /Write it as https/],
      ['https://me:pw@ops.example', /no user, query or fragment/],
      ['http://ops.example', /Use https for ops\.example/],
      ['http://10.0.0.1:8081', /Use https for 10\.0\.0\.1:8081/],
    ] as const)
      await assertWrong(`account list --server ${address}`, message, token)
    for (const address of ['http://localhost:1', 'http://[::1]:1', 'http://127.0.0.1:1'])
      assert.equal((await type(`account list --server ${address}`, token)).code, 1)
  })

  it('with any token that the setting admin_token allows, and never shows it', async () => {
    const own = { TURNPIKE_TOKEN: 'ad_my-own_token-123' }
    const { error } = await type('account list --server http://127.0.0.1:1', own)
    assert.match(error, /refuses the connection/)
    assert.doesNotMatch(error, /my-own/)
  })
})

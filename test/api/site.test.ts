/** The files of console and account page: which listener serves which, with which headers. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import {
  accountScript,
  consoleScript,
  sharedScript,
  writeBuiltSite,
} from '../support/built-site.ts'
import { openUnread, send, type WireAnswer } from '../support/http-client.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

let gateway: Scenario
let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-site-'))
  await writeBuiltSite(join(folder, 'built'))
  gateway = await scenario({
    siteFolder: join(folder, 'built'),
    settings: {
      operator_name: 'Acme <b>AI</b>',
      operator_contact: 'mailto:help@acme.example',
    },
  })
})
after(async () => {
  await gateway.close()
  await rm(folder, { recursive: true })
})

function header(answer: WireAnswer, name: string): string {
  return String(answer.headers[name])
}

describe('each page', () => {
  for (const [name, urlOf] of [
    ['console', () => `${gateway.adminUrl}/console`],
    ['account', () => `${gateway.url}/account`],
  ] as const) {
    test(`/${name} leads to /${name}/, which is a page that may load only its own origin`, async () => {
      const moved = await send(urlOf())
      assert.deepEqual([moved.status, moved.headers['location']], [308, `/${name}/`])
      const page = await send(`${urlOf()}/?tab=1`)
      assert.equal(page.status, 200)
      assert.equal(header(page, 'content-type'), 'text/html; charset=utf-8')
      assert.equal(header(page, 'content-security-policy'), policy)
      assert.equal(header(page, 'x-content-type-options'), 'nosniff')
      assert.equal(header(page, 'referrer-policy'), 'no-referrer')
      assert.equal(header(page, 'cross-origin-opener-policy'), 'same-origin')
      assert.equal(header(page, 'cache-control'), 'no-cache')
      assert.match(header(page, 'x-turnpike-request-id'), /^ex_/)
      assert.match(page.text, new RegExp(` src="/${name}/assets/${name}.js"`))
      assert.match(page.text, new RegExp(` href="/${name}/assets/theme.css"`))
    })

    test(`/${name}/assets/ are asked for again each time, and compressed as the client wants`, async () => {
      const url = `${urlOf()}/assets/account.js`
      const plain = await send(url)
      assert.equal(plain.text, accountScript)
      assert.equal(header(plain, 'cache-control'), 'no-cache')
      assert.equal(header(plain, 'content-type'), 'text/javascript; charset=utf-8')
      assert.equal(header(plain, 'vary'), 'accept-encoding')
      const brotli = await send(url, { headers: { 'accept-encoding': 'gzip, deflate, br' } })
      assert.equal(header(brotli, 'content-encoding'), 'br')
      assert.equal(brotliDecompressSync(brotli.body).toString(), accountScript)
      const gzip = await send(url, { headers: { 'accept-encoding': 'br;q=0, gzip' } })
      assert.equal(header(gzip, 'content-encoding'), 'gzip')
      assert.equal(gunzipSync(gzip.body).toString(), accountScript)
      const tags = [plain, brotli, gzip].map((answer) => header(answer, 'etag'))
      assert.equal(new Set(tags).size, 3)
      const small = await send(`${urlOf()}/assets/shared.js`, {
        headers: { 'accept-encoding': 'br' },
      })
      assert.deepEqual([small.headers['content-encoding'], small.text], [undefined, sharedScript])
    })

    for (const path of ['', 'assets/account.js', 'assets/mark.svg', 'assets/theme.css'])
      test(`/${name}/${path} is not sent again to a client that has it`, async () => {
        const url = `${urlOf()}/${path}`
        const brotli = { 'accept-encoding': 'br' }
        for (const headers of [{}, brotli]) {
          const etag = header(await send(url, { headers }), 'etag')
          const known = await send(url, {
            headers: { ...headers, 'if-none-match': `"x", ${etag}` },
          })
          assert.deepEqual([known.status, known.text, known.headers['etag']], [304, '', etag])
          assert.equal(header(known, 'cache-control'), 'no-cache')
        }
        const other = await send(url, { headers: { 'if-none-match': '"x"' } })
        assert.equal(other.status, 200)
      })

    test(`/${name}/ answers HEAD, and refuses other methods`, async () => {
      const head = await send(`${urlOf()}/assets/account.js`, { method: 'HEAD' })
      assert.deepEqual([head.status, head.text], [200, ''])
      for (const path of ['', '/', '/assets/account.js']) {
        const refused = await send(urlOf() + path, { method: 'POST' })
        assert.equal(refused.status, 405)
        assert.equal(refused.headers['allow'], 'GET, HEAD')
      }
    })
  }
})

test('every other path of the console is its page, but not below assets/', async () => {
  const page = await send(`${gateway.adminUrl}/console/`)
  for (const path of ['accounts/acme', 'sign-in', 'requests/ex_1'])
    assert.equal((await send(`${gateway.adminUrl}/console/${path}`)).text, page.text)
  const gone = await send(`${gateway.adminUrl}/console/assets/gone.js`)
  assert.equal(gone.status, 404)
  assert.equal(header(gone, 'content-type'), 'application/problem+json')
  assert.equal(header(gone, 'cache-control'), 'no-store')
  for (const path of ['consoles', 'console.html'])
    assert.equal((await send(`${gateway.adminUrl}/${path}`)).status, 401)
})

test('the public listener serves no file that the account page does not load', async () => {
  const own = ['account.js', 'shared.js', 'chart.js', 'mark.svg', 'theme.css']
  for (const name of own)
    assert.equal((await send(`${gateway.url}/account/assets/${name}`)).status, 200, name)
  const others = [
    'account/assets/console.js',
    'account/account.html',
    'account/.vite/manifest.json',
    'account/../console/',
    'account/accounts',
    'console/',
    'console/assets/console.js',
  ]
  for (const path of others) {
    const answer = await send(`${gateway.url}/${path}`)
    assert.ok([400, 404].includes(answer.status), path)
    assert.doesNotMatch(answer.text, /for operators/)
  }
  assert.equal((await send(`${gateway.adminUrl}/console/assets/console.js`)).text, consoleScript)
})

test('a client that reads nothing of a large file keeps no other waiting, and gets all of it', async () => {
  const response = await openUnread(`${gateway.url}/account/assets/account.js`)
  assert.equal((await send(`${gateway.url}/account/`)).status, 200)
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  assert.equal(Buffer.concat(chunks).toString(), accountScript)
})

test('the account page has name and contact of the operator', async () => {
  const answer = await send(`${gateway.url}/account/operator.json`)
  assert.deepEqual(JSON.parse(answer.text), {
    name: 'Acme <b>AI</b>',
    contact: 'mailto:help@acme.example',
    address: null,
    tax: null,
    members: false,
    oidc: null,
    sign_up: null,
    payments: null,
  })
})

test('without a build both pages say how to make it, and the gateway serves', async () => {
  const bare = await scenario({ siteFolder: join(folder, 'none') })
  try {
    for (const url of [`${bare.adminUrl}/console/`, `${bare.url}/account/`]) {
      const answer = await send(url)
      assert.equal(answer.status, 404)
      assert.match(answer.text, /is not built\. Run \\"npm run console\\"/)
    }
    const operator = await send(`${bare.url}/account/operator.json`)
    assert.deepEqual(JSON.parse(operator.text), {
      name: null,
      contact: null,
      address: null,
      tax: null,
      members: false,
      oidc: null,
      sign_up: null,
      payments: null,
    })
    assert.equal((await bare.health()).code, 200)
  } finally {
    await bare.close()
  }
})

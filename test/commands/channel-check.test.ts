/**
 * `turnpike channel check` beside running gateways, each with an environment and files of its own: the
 * command shows what each of them found. Real processes, PostgreSQL and simulated vendors.
 */
import assert from 'node:assert/strict'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { ChannelCheck } from '../../src/operations/channels/channel-check.ts'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'
import { eventually } from '../support/eventually.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { openProgram, type Program } from '../support/program.ts'

let sandbox: Sandbox
let server: PostgresServer
before(async () => {
  sandbox = await startSandbox({ credentials: { main: 'vendor-right' } })
  server = await startPostgres()
})
after(async () => {
  await server.close()
  await sandbox.close()
})

function catalogue(credential: string, check = 'request'): string {
  return `
models:
  large-1: { vendor: alpha, max_output_tokens: 8192, price: { input: 3, output: 15 } }
channels:
  main: { vendor: alpha, url: "${sandbox.url}/main", credential: "${credential}", models: [large-1], check: ${check} }
`
}

async function open(
  context: TestContext,
  environment: Readonly<Record<string, string>>,
): Promise<Program> {
  const program = await openProgram(environment)
  context.after(() => program.close())
  return program
}

async function apply(program: Program, text: string): Promise<void> {
  await program.write('catalog.yaml', text)
  await program.json('apply', '-f', 'catalog.yaml')
}

async function check(program: Program): Promise<ChannelCheck & { readonly code: number }> {
  const { code, out } = await program.run('channel', 'check', 'main', '--json')
  return { ...(JSON.parse(out) as ChannelCheck), code }
}

function found({ results }: ChannelCheck): readonly string[] {
  return results.map(({ gateway, reason, models }) =>
    [gateway?.name ?? 'command', reason ?? models.map(({ outcome }) => outcome).join()].join(': '),
  )
}

// Most of their time is waiting for gateways to hear of the check.
describe('channel check', { concurrency: 2 }, () => {
  it('fails where one of two gateways is refused, whatever this shell has', async (context) => {
    const shared = {
      TURNPIKE_STORE: await server.createDatabase(),
      TURNPIKE_MASTER_KEY: '0123456789abcdef'.repeat(4),
    }
    const names = ['good', 'bad', 'bare'] as const
    const keys = { good: { KEY: 'vendor-right' }, bad: { KEY: 'vendor-wrong' }, bare: {} }
    const [good, bad, bare] = await Promise.all(
      names.map((name) => open(context, { ...shared, ...keys[name], TURNPIKE_NODE_NAME: name })),
    )
    assert.ok(good !== undefined && bad !== undefined && bare !== undefined)
    await apply(good, catalogue('env:KEY'))

    const alone = await check(good)
    assert.deepEqual([alone.code, alone.gateways_asked, found(alone)], [0, 0, ['command: ok']])
    const { out } = await good.run('channel', 'check', 'main')
    assert.match(out, /No gateway is running on this store\. The command has checked the channel/)

    await bad.serve()
    const refused = await check(good)
    assert.deepEqual([refused.code, refused.ok, found(refused)], [1, false, ['bad: config']])

    await good.serve()
    const both = await check(bare)
    assert.deepEqual([both.code, both.gateways_asked], [1, 2])
    assert.deepEqual(found(both).toSorted(), ['bad: config', 'good: ok'])
    const shown = await good.run('channel', 'check', 'main')
    assert.match(shown.out, /^bad \(node_\w+\) +large-1 .*config .*401 /m)
    assert.match(shown.out, /^good \(node_\w+\) +large-1 .*ok .*200 /m)

    const serving = await bare.serve()
    const unset = found(await check(good)).find((line) => line.startsWith('bare'))
    assert.equal(unset, 'bare: the environment variable KEY with its credential is not set')

    // Killed: it counts as running for a while, and then the check ends without it.
    process.kill(serving.pid, 'SIGKILL')
    assert.deepEqual(found(await check(good)).toSorted(), ['bad: config', 'good: ok'])
  })

  it('a credential file is read again when it is replaced, without a restart', async (context) => {
    const program = await open(context, {})
    const file = join(program.folder, 'vendor.key')
    await apply(program, catalogue(`file:${file}`, 'none'))
    const [listed] = await program.json<readonly { credential: string }[]>('channel', 'list')
    assert.equal(listed?.credential, `file:${file}`)
    const missing = `command: the file ${file} with its credential cannot be read (ENOENT)`
    assert.deepEqual(found(await check(program)), [missing])

    await writeFile(file, 'vendor-wrong\n')
    const serving = await program.serve()
    assert.match(found(await check(program)).join(), /: config$/)

    await writeFile(`${file}.new`, 'vendor-right\n')
    await rename(`${file}.new`, file)
    const rotated = await eventually(
      'the new credential',
      () => check(program),
      ({ ok }) => ok,
    )
    assert.deepEqual([rotated.code, rotated.gateways_asked], [0, 1])

    await rename(file, `${file}.away`)
    await eventually(
      'the file is gone',
      () => check(program),
      (one) => found(one).join().endsWith('cannot be read (ENOENT)'),
    )
    await rename(`${file}.away`, file)
    await eventually(
      'the file is back',
      () => check(program),
      ({ ok }) => ok,
    )
    assert.equal(await serving.stop(), 0)
    for (const text of [serving.output(), ...program.ran.map(({ out }) => out)])
      assert.doesNotMatch(text, /vendor-(right|wrong)/)
  })
})

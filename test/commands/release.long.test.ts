/**
 * A packed release on a machine without Node, npm and network: the archive is unpacked into an empty folder,
 * and a program in a namespace without network serves and relays a request to simulated vendors. npx runs the
 * same file without a registry.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { noRegistry } from '../support/checkout.ts'
import { packRelease, releaseName, releasePlatform } from '../support/packed-release.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const platform = releasePlatform
const name = releaseName

/** Commands that a minimal system has; no Node, no npm. */
const systemTools = ['sh', 'uname', 'dirname', 'readlink']

/** Runs in the release's own Node, beside the program that it is given. */
const useProgram = `
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
const [program] = process.argv.slice(2)
const children = []
function turnpike(...words) {
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(words.join(' ') + ': ' + stderr)
  return stdout
}
async function start(...words) {
  const child = spawn(program, [...words, '--json'], { stdio: ['ignore', 'pipe', 'ignore'] })
  children.push(child)
  let text = ''
  for await (const piece of child.stdout) {
    text += piece
    if (text.includes('\\n}\\n')) break
  }
  return JSON.parse(text)
}
const { url } = await start('sandbox', '--listen', '127.0.0.1:0')
writeFileSync('catalog.yaml', 'models: { large-1: { vendor: alpha, price: { input: 3, output: 15 } } }\\n' +
  'channels: { main: { vendor: alpha, url: "' + url + '/main", credential: any, models: [large-1] } }\\n')
turnpike('apply', '-f', 'catalog.yaml')
turnpike('account', 'create', 'acme', '--balance', '10')
const { key } = JSON.parse(turnpike('key', 'create', 'acme', '--json'))
const { address } = await start('serve')
const answer = await fetch('http://' + address + '/alpha/v1/messages', {
  method: 'POST',
  headers: { 'x-api-key': key, 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'large-1', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
})
const body = await answer.json()
for (const child of children.toReversed()) {
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  await closed
}
const { clean } = JSON.parse(turnpike('audit', '--json'))
const { balance_usd } = JSON.parse(turnpike('account', 'show', 'acme', '--json'))
console.log(JSON.stringify({ status: answer.status, type: body.type, clean, balance_usd }))
`

/** Makes `lo` usable in a namespace that has nothing else. Empty where this user may make none. */
function networkless(): readonly string[] {
  const words = ['--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
  return spawnSync('unshare', [...words, 'true']).status === 0 ? ['unshare', ...words] : []
}

describe('a packed release', () => {
  let folder: string
  let out: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-release-test-'))
    out = await packRelease()
  })
  after(() => rmSync(folder, { recursive: true, maxRetries: 3 }))

  it('is refused for a platform that has no Node', async () => {
    const words = [join(root, 'scripts/release.mjs'), '--platform', 'plan9-mips']
    await assert.rejects(run(process.execPath, words), /There is no platform plan9-mips/)
  })

  it('lists the hash of each file', () => {
    const lines = readFileSync(join(out, 'SHA256SUMS'), 'utf8').trim().split('\n')
    assert.equal(lines.length, 2)
    for (const line of lines) {
      const [sum, file = ''] = line.split('  ')
      const bytes = readFileSync(join(out, file))
      assert.equal(createHash('sha256').update(bytes).digest('hex'), sum, file)
    }
  })

  // The list of packages says when it was made, and has a number of its making.
  it('has the same archive when it is packed again', async () => {
    const again = join(folder, 'again')
    const words = ['--snapshot', '--offline', '--level', '1', '--out', again]
    await run(process.execPath, [join(root, 'scripts/release.mjs'), ...words])
    const [first, second] = [out, again].map((of) => readFileSync(join(of, `${name}.tar.gz`)))
    assert.ok(first !== undefined && second?.equals(first))
  })

  it('lists its packages as CycloneDX, without tools for development', () => {
    const { bomFormat, components } = JSON.parse(
      readFileSync(join(out, `${name}.sbom.json`), 'utf8'),
    ) as { bomFormat: string; components: { name: string }[] }
    const names = components.map((component) => component.name)
    assert.equal(bomFormat, 'CycloneDX')
    assert.ok(names.includes('pino') && names.includes(`node-${platform}`), names.join())
    assert.ok(!names.includes('typescript'))
    assert.equal(names.filter((one) => /^node-.*-(x64|arm64)$/.test(one)).length, 1)
  })

  it('serves from its archive without Node, npm and network on the machine', async (t) => {
    const place = join(folder, 'machine')
    const bin = join(folder, 'system-bin')
    mkdirSync(place)
    mkdirSync(bin)
    for (const tool of systemTools) {
      const { stdout } = spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' })
      symlinkSync(stdout.trim(), join(bin, tool))
    }
    await run('tar', ['-xzf', join(out, `${name}.tar.gz`), '-C', place])
    assert.deepEqual(readdirSync(place), [name])
    const program = join(place, name)
    assert.deepEqual(
      readdirSync(program, { recursive: true, encoding: 'utf8' }).filter(
        (path) => path.endsWith('.test.ts') && !path.startsWith('node_modules'),
      ),
      [],
    )
    const about = JSON.parse(readFileSync(join(program, 'package.json'), 'utf8')) as object
    assert.deepEqual(Object.keys(about).includes('private'), false, 'it may be published')
    const { license, bin: programs, os, cpu } = about as Readonly<Record<string, unknown>>
    assert.deepEqual(
      { license, programs, os, cpu },
      {
        license: 'MIT',
        programs: { turnpike: 'bin/turnpike' },
        os: [process.platform],
        cpu: [process.arch],
      },
    )
    assertOpensWithoutServer(join(program, 'website'))
    assert.match(readFileSync(join(program, 'Dockerfile'), 'utf8'), /^ARG VERSION=\d/m)
    const data = join(folder, 'data')
    mkdirSync(data)
    writeFileSync(join(data, 'use.mjs'), useProgram)
    const around = networkless()
    t.diagnostic(
      around.length > 0 ? 'without network' : 'with network: unshare is not allowed here',
    )
    const { stdout } = await inEmpty(around, bin, data, [
      join(program, 'node_modules', `node-${platform}`, 'bin/node'),
      'use.mjs',
      join(program, 'bin/turnpike'),
    ])
    const { balance_usd, ...result } = JSON.parse(stdout) as Record<string, unknown>
    assert.deepEqual(result, { status: 200, type: 'message', clean: true })
    assert.ok(Number(balance_usd) < 10)
    const shown = await inEmpty([], bin, data, [join(program, 'bin/turnpike'), '--version'])
    rmSync(place, { recursive: true })
    assert.match(
      shown.stdout,
      /^turnpike \d+\.\d+\.\d+ \([0-9a-f]{7,}(-changed)?, \d{4}-\d\d-\d\d\)\n$/,
    )
  })

  it('is run by npx from its file without a registry', async () => {
    const place = join(folder, 'project')
    mkdirSync(place)
    const env = {
      PATH: process.env['PATH'],
      HOME: place,
      npm_config_cache: join(place, 'cache'),
      npm_config_registry: noRegistry,
    }
    const words = ['--yes', '--package', join(out, `${name}.tar.gz`), 'turnpike']
    const given = ['account', 'create', 'acme', '--json']
    const { stdout } = await run('npx', [...words, ...given], { cwd: place, env })
    assert.equal((JSON.parse(stdout) as { name: string }).name, 'acme')
    const [installed = ''] = readdirSync(join(place, 'cache', '_npx'))
    const modules = join(place, 'cache', '_npx', installed, 'node_modules')
    const sources = join(modules, 'turnpike', 'src')
    assert.doesNotMatch(readFileSync(join(sources, 'base/clock.ts'), 'utf8'), /: number/)
    const program = join(modules, '.bin', 'turnpike')
    const audited = await run(program, ['audit', '--json'], { cwd: place, env })
    assert.equal((JSON.parse(audited.stdout) as { clean: boolean }).clean, true)
  })
})

/** Every link and style of the pages is a file beside them, and nothing waits for a script. */
function assertOpensWithoutServer(website: string): void {
  const paths = readdirSync(website, { recursive: true, encoding: 'utf8' })
  const pages = paths.filter((path) => path.endsWith('.html') && path !== '404.html')
  assert.ok(pages.length > 50)
  for (const page of pages) {
    const html = readFileSync(join(website, page), 'utf8')
    assert.doesNotMatch(html, /<script type="module"/, page)
    for (const [, target = ''] of html.matchAll(/\s(?:href|src)="([^"#:]+)(?:#[^"]*)?"/g))
      assert.ok(existsSync(join(website, page, '..', target)), `${page}: ${target}`)
  }
}

/** Runs a command with nothing but the tools of a minimal system. */
function inEmpty(
  around: readonly string[],
  bin: string,
  cwd: string,
  words: readonly string[],
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const settings = ['TURNPIKE_LISTEN=127.0.0.1:0', 'TURNPIKE_ADMIN_LISTEN=127.0.0.1:0']
  const [file = '', ...rest] = [
    ...around,
    '/usr/bin/env',
    '-i',
    `PATH=${bin}`,
    ...settings,
    ...words,
  ]
  return run(file, rest, { cwd })
}

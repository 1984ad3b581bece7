/**
 * bin/turnpike in a small checkout. Goal: it finds its packages from any folder, installs only what is
 * missing, never removes a package that works, and says in one sentence what stands in the way.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { makeCheckout, noRegistry, runtimeName, type Checkout } from '../support/checkout.ts'
import type { Ran } from '../support/command-line.ts'

const other = process.getuid?.() === 0 ? { uid: 65_534 } : {}
const offline = { npm_config_registry: noRegistry }

function launch(
  checkout: Checkout,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return checkout.run(join(checkout.folder, 'bin/turnpike'), ['account', 'create', 'a b'], {
    environment,
  })
}

function assertServed({ code, out, error }: Ran, version: string, said = /^$/): void {
  assert.equal(out, `greeter ${version} account|create|a b\n`)
  assert.match(error, said)
  assert.equal(code, 7)
}

function assertRefused({ code, out, error }: Ran, sentence: RegExp): void {
  assert.match(error.replace(/^turnpike: installing packages .*\n/, ''), sentence)
  assert.equal(
    error.replace(/^turnpike: installing packages .*\n/, '').split('\n').length,
    2,
    error,
  )
  assert.deepEqual([code, out], [1, ''])
}

describe('bin/turnpike with all packages', () => {
  it('changes nothing in node_modules after npm ci, from any folder and through links', async (test) => {
    const checkout = await makeCheckout(test)
    await checkout.npmCi()
    const before = checkout.installed()
    assertServed(await launch(checkout, offline), '1.0.0')
    const links = join(checkout.folder, 'links')
    mkdirSync(links)
    symlinkSync('../bin/turnpike', join(links, 'relative'))
    symlinkSync(join(links, 'relative'), join(links, 'absolute'))
    for (const command of ['./relative', './absolute', '../bin/turnpike']) {
      const ran = await checkout.run(command, ['account', 'create', 'a b'], { cwd: links })
      assertServed(ran, '1.0.0')
    }
    assert.deepEqual(checkout.installed(), before)
  })

  it('serves a user who may write nowhere', async (test) => {
    const checkout = await makeCheckout(test)
    await checkout.npmCi()
    chmodSync(checkout.modules, 0o555)
    chmodSync(checkout.folder, 0o555)
    const ran = await checkout.run('bin/turnpike', ['account', 'create', 'a b'], other)
    assertServed(ran, '1.0.0')
    chmodSync(checkout.folder, 0o755)
    chmodSync(checkout.modules, 0o755)
  })
})

describe('bin/turnpike with a package missing', () => {
  it('replaces only what a changed lock file names, and keeps stdout clean', async (test) => {
    const checkout = await makeCheckout(test)
    await checkout.npmCi()
    mkdirSync(join(checkout.modules, 'of-the-operator'))
    const before = checkout.installed()
    checkout.lock('1.1.0')
    const said = /^turnpike: installing packages \(production\) …\n$/
    assertServed(await launch(checkout), '1.1.0', said)
    const after = checkout.installed()
    for (const name of [runtimeName, 'tool', 'of-the-operator', join(runtimeName, 'bin/node')])
      assert.equal(after.get(name), before.get(name), name)
    assert.deepEqual(
      [...after.keys()].filter((name) => !before.has(name)),
      [],
    )
    assertServed(await launch(checkout, offline), '1.1.0')
  })

  it('without the registry keeps what is there and says what is missing', async (test) => {
    const checkout = await makeCheckout(test)
    await checkout.npmCi()
    const before = checkout.installed()
    checkout.lock('1.1.0')
    const sentence =
      /^turnpike: packages are missing \(greeter 1\.1\.0\), and npm cannot reach its registry \(ECONNREFUSED\); connect this machine/
    assertRefused(await launch(checkout, offline), sentence)
    assert.deepEqual(withoutTimes(checkout.installed()), withoutTimes(before))
    checkout.lock('1.0.0')
    assertServed(await launch(checkout, offline), '1.0.0')
  })

  it("installs from npm's cache without the registry, whatever npm is set to leave out", async (test) => {
    const checkout = await makeCheckout(test)
    await checkout.npmCi()
    rmSync(checkout.modules, { recursive: true })
    checkout.stopRegistry()
    const environment = { NODE_ENV: 'production', npm_config_omit: 'optional' }
    assertServed(await launch(checkout, environment), '1.0.0', /installing/)
    assert.ok(existsSync(join(checkout.modules, 'compiled')), 'optional packages too')
  })

  it('says in one sentence that this user may not install', async (test) => {
    const checkout = await makeCheckout(test)
    await checkout.npmCi()
    checkout.lock('1.1.0')
    chmodSync(checkout.modules, 0o555)
    assertRefused(
      await checkout.run('bin/turnpike', ['--version'], other),
      /^turnpike: packages are missing \(greeter 1\.1\.0\), and this user may not write to .*node_modules; run the same command once as the user who owns that folder\.\n$/,
    )
    chmodSync(checkout.modules, 0o755)
    rmSync(checkout.modules, { recursive: true })
    chmodSync(checkout.folder, 0o555)
    assertRefused(
      await checkout.run('bin/turnpike', ['--version'], other),
      /^turnpike: packages are missing \(greeter 1\.1\.0 and 1 more\), and this user may not write to .*turnpike; run/,
    )
    chmodSync(checkout.folder, 0o755)
  })

  it('installs once for two commands that start at the same time', async (test) => {
    const checkout = await makeCheckout(test)
    for (const ran of await Promise.all([launch(checkout), launch(checkout)]))
      assertServed(ran, '1.0.0', /(installing packages|waiting for process)/)
    const once = ['compiled 1.0.0', 'greeter 1.0.0', `${runtimeName} 26.0.0`]
    assert.deepEqual(checkout.fetched.toSorted(), once)
  })

  it('continues after an installation that was killed', async (test) => {
    const checkout = await makeCheckout(test)
    const left = join(checkout.modules, '.turnpike-staging.1')
    mkdirSync(left, { recursive: true })
    const dead = spawnSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).stdout.trim()
    writeFileSync(join(checkout.modules, '.turnpike-install.lock'), dead)
    assertServed(await launch(checkout), '1.0.0', /installing/)
    const names = [...checkout.installed().keys()].filter((name) => name.startsWith('.turnpike'))
    assert.deepEqual(names, [])
  })
})

describe('bin/turnpike after an installation that was killed between two packages', () => {
  it('installs all the others, the optional ones too', async (test) => {
    const checkout = await makeCheckout(test)
    const killer = join(checkout.folder, 'killer.cjs')
    writeFileSync(killer, killAtThirdRename)
    const killed = await launch(checkout, { NODE_OPTIONS: `--require "${killer}"` })
    assert.deepEqual([killed.code, killed.out], [1, ''])
    assertServed(await launch(checkout), '1.0.0', /installing/)
    assert.ok(existsSync(join(checkout.modules, 'compiled')))
  })
})

/** The packages are three: each is moved into its place by one rename. */
const killAtThirdRename = `
  const fs = require('node:fs')
  const rename = fs.renameSync
  let count = 0
  fs.renameSync = (from, to) => {
    if (from.includes('.turnpike-staging') && ++count === 3) process.kill(process.pid, 'SIGKILL')
    rename(from, to)
  }
  require('node:module').syncBuiltinESMExports()`

describe('bin/turnpike without a Node to install with', () => {
  it('says what to install where there is none', async (test) => {
    const checkout = await makeCheckout(test)
    const path = toolsOnly(checkout)
    const sentence = /^turnpike: the packages are missing; install Node 20 or newer with npm/
    assertRefused(await launch(checkout, { PATH: path }), sentence)
  })

  it('says what to install where it is too old, and where npm is missing', async (test) => {
    const checkout = await makeCheckout(test)
    const path = toolsOnly(checkout)
    const node = join(path, 'node')
    const old = join(path, 'old.cjs')
    writeFileSync(old, "Object.defineProperty(process, 'versions', { value: { node: '14.21.3' } })")
    writeScript(node, `exec ${process.execPath} -r '${old}' "$@"`)
    const sentence = /^turnpike: Node 14\.21\.3 is too old; install 20 or newer\.\n$/
    assertRefused(await launch(checkout, { PATH: path }), sentence)
    writeScript(node, `exec ${process.execPath} "$@"`)
    assertRefused(
      await launch(checkout, { PATH: path }),
      /^turnpike: npm, which installs the packages, is missing/,
    )
  })
})

/** A folder with the tools that the launcher calls, to be the whole PATH. */
function toolsOnly({ folder }: Checkout): string {
  const path = join(folder, 'tools')
  mkdirSync(path)
  for (const tool of ['sh', 'uname', 'dirname', 'readlink']) {
    const found = spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' })
    symlinkSync(found.stdout.trim(), join(path, tool))
  }
  return path
}

function writeScript(path: string, body: string): void {
  writeFileSync(path, `#!/bin/sh\n${body}\n`)
  chmodSync(path, 0o755)
}

/** A failed installation comes and goes in the folder itself, so only its names and files are compared. */
function withoutTimes(installed: ReadonlyMap<string, string>): readonly string[] {
  return [...installed.keys()].toSorted()
}

/**
 * `npm start` where something stands in the way before the gateway runs. Goal: within seconds one sentence
 * that says what to do, and exit code 1.
 */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'acorn'
import { makeCheckout, noRegistry } from '../support/checkout.ts'

const root = join(import.meta.dirname, '..', '..')

describe('npm start', () => {
  it('says in one sentence that packages are missing and the registry is away', async (test) => {
    const checkout = await makeCheckout(test)
    const environment = { npm_config_registry: noRegistry }
    const startedMs = performance.now()
    const { code, error } = await checkout.run('npm', ['start'], { environment })
    // The pauses between npm's own attempts add up to 70 s.
    assert.ok(performance.now() - startedMs < 60_000)
    assert.match(
      error,
      /^turnpike: installing .*\nturnpike: packages are missing \(greeter 1\.0\.0 and 1 more\), and npm cannot reach its registry \(ECONNREFUSED\); connect this machine, or set npm_config_registry to a registry that it can reach\.\n$/,
    )
    assert.equal(code, 1)
  })

  it('says in one sentence that this user may not install', async (test) => {
    const checkout = await makeCheckout(test)
    chmodSync(checkout.folder, 0o555)
    const other = process.getuid?.() === 0 ? { uid: 65_534 } : {}
    // npm keeps its log where this user may write.
    const home = join(checkout.folder, '..', 'home')
    mkdirSync(home)
    chmodSync(home, 0o777)
    const environment = { HOME: home, npm_config_cache: home }
    const { code, error } = await checkout.run('npm', ['start'], { environment, ...other })
    chmodSync(checkout.folder, 0o755)
    assert.match(
      error,
      /^turnpike: packages are missing \(.*\), and this user may not write to .*; run the same command once as the user who owns that folder\.\n$/,
    )
    assert.equal(code, 1)
  })

  it('starts after npm ci without the registry, and installs nothing', async (test) => {
    const checkout = await makeCheckout(test)
    await checkout.npmCi()
    const before = checkout.installed()
    const environment = { npm_config_registry: noRegistry }
    const { code, out, error } = await checkout.run('npm', ['start'], { environment })
    assert.deepEqual([code, error], [7, ''])
    assert.match(out, /^greeter 1\.0\.0/m)
    assert.deepEqual(checkout.installed(), before)
  })
})

describe('every script of package.json that Node starts', () => {
  it('says in one sentence that Node is too old', async (test) => {
    const checkout = await makeCheckout(test)
    const tools = join(checkout.folder, 'tools')
    mkdirSync(tools)
    const old = join(tools, 'old.cjs')
    writeFileSync(old, "Object.defineProperty(process, 'versions', { value: { node: '14.21.3' } })")
    writeFileSync(join(tools, 'node'), `#!/bin/sh\nexec ${process.execPath} -r '${old}' "$@"\n`, {
      mode: 0o755,
    })
    const environment = { PATH: `${tools}:${process.env['PATH']}` }
    for (const script of scriptsOnNode()) {
      const { code, error } = await checkout.run('sh', ['-c', script], { environment })
      assert.equal(error, 'turnpike: Node 14.21.3 is too old; install 20 or newer.\n', script)
      assert.equal(code, 1)
    }
  })

  it('begins with a check that every Node can read', () => {
    const text = readFileSync(join(root, 'scripts', 'node-version.cjs'), 'utf8')
    assert.doesNotThrow(() => parse(text, { ecmaVersion: 5 }))
  })
})

function scriptsOnNode(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>
  }
  const started = Object.values(scripts).filter((script) => /\bnode\b/.test(script))
  assert.ok(started.length > 5)
  return started
}

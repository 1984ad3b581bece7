/**
 * The release of this tree, packed once for all test files that look at it: `.cache/release` keeps it until a
 * file changes. Of several processes that need it at once one packs, and the others wait.
 */
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..', '..')
const cache = join(root, '.cache', 'release')

export const releasePlatform = `${process.platform}-${process.arch}`
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string
}
/** Of the archive, and of the one folder in it. */
export const releaseName = `turnpike-${version}-${releasePlatform}`

/** Arguments: the cache, the folder wanted, the Node and the script that pack. */
const packOnce = `
cd "$1" && [ -d "$2" ] && exit
rm -rf ./*/
"$3" "$4" --snapshot --offline --level 1 --out "$2.part" && mv "$2.part" "$2"`

/** Resolves with the folder of the release's files. */
export async function packRelease(): Promise<string> {
  mkdirSync(cache, { recursive: true })
  const out = join(cache, hashOfTree())
  const script = join(root, 'scripts', 'release.mjs')
  const words = ['sh', '-c', packOnce, 'sh', cache, out, process.execPath, script]
  await promisify(execFile)('flock', [join(cache, 'lock'), ...words])
  return out
}

/** Of the commit and of all files, changed and new ones too. */
function hashOfTree(): string {
  const index = join(cache, `index.${process.pid}`)
  const git = (...words: readonly string[]): string =>
    execFileSync('git', ['-C', root, ...words], {
      encoding: 'utf8',
      env: { ...process.env, GIT_INDEX_FILE: index },
    }).trim()
  try {
    git('read-tree', 'HEAD')
    git('add', '--all')
    return `${git('rev-parse', '--short=12', 'HEAD')}-${git('write-tree').slice(0, 12)}`
  } finally {
    rmSync(index, { force: true })
  }
}

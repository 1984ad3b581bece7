/**
 * Programs that are too large for every test run. They are installed when their transcript is made, at
 * a pinned version, into the folder `.cache`, which stays.
 */
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { installedApart, type Package } from '../../../support/client-pins.ts'
import type { CodingAgent } from '../agents.ts'
import { runChild } from '../child.ts'

const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
const cache = join(import.meta.dirname, '..', '..', '.cache')

/** Returns the folder `node_modules` that has the package. */
export async function installApart({ name, version }: Package): Promise<string> {
  const folder = join(cache, `${name.replaceAll('/', '-')}-${version}`)
  const installed = join(folder, 'node_modules')
  if (existsSync(join(installed, name))) return installed
  await mkdir(folder, { recursive: true })
  const args = [
    'install',
    '--prefix',
    folder,
    '--no-save',
    '--ignore-scripts',
    `${name}@${version}`,
  ]
  await mustRun('npm', args)
  return installed
}

async function mustRun(command: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await runChild({
    command,
    args,
    cwd: cache,
    env: { ...(process.env as Record<string, string>), PATH: path },
    timeoutMs: 900_000,
  })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stderr}`)
}

/** `installed`: a folder `node_modules`. */
export function pi(installed: string): CodingAgent {
  return {
    title: 'pi',
    page: 'pi',
    package: installedApart.pi.name,
    settings: { path: '.pi/agent/models.json', language: 'json' },
    program: { name: 'pi', path: join(installed, '.bin', 'pi') },
    env: { PI_OFFLINE: '1' },
    task: (file) => [
      { name: 'read', arguments: { path: file } },
      {
        name: 'edit',
        arguments: { path: file, edits: [{ oldText: 'Good morning', newText: 'Good evening' }] },
      },
      { name: 'bash', arguments: { command: 'wc -c greeting.txt | tee count.txt' } },
    ],
  }
}

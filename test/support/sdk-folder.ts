/** A folder beside the installed SDKs, in which programs of a customer run as their reader would run them. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

export interface SdkFolder {
  readonly path: string
  write(name: string, program: string): Promise<void>
  /** Runs lines for a shell and returns what they print. */
  run(lines: string): Promise<string>
  close(): Promise<void>
}

export async function makeSdkFolder(): Promise<SdkFolder> {
  const path = await mkdtemp(join(tmpdir(), 'turnpike-sdks-'))
  const packages = join(import.meta.dirname, '..', 'clients', 'node_modules')
  await symlink(packages, join(path, 'node_modules'))
  return {
    path,
    write: (name, program) => writeFile(join(path, name), program),
    async run(lines) {
      const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }
      const { stdout } = await promisify(execFile)('sh', ['-euc', lines], { cwd: path, env })
      return stdout
    },
    close: () => rm(path, { recursive: true, force: true }),
  }
}

/** A program that names neither address nor key. */
export const shortProgram = `import OpenAI from 'openai'

const messages = [{ role: 'user' as const, content: 'Good morning' }]
const completion = await new OpenAI().chat.completions.create({ model: 'chat-mini-1', messages })
console.log(completion.choices[0]?.message.content)`

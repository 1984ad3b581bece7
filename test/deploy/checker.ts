/**
 * Compiles `checker/main.go` and runs it: it reads compose files and charts with the libraries of Docker
 * Compose and Helm. The first compilation takes a minute or two; Go keeps its result.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { prepareGo } from '../clients/support/toolchains.ts'

const folder = join(import.meta.dirname, 'checker')
const program = join(import.meta.dirname, '..', '..', '.cache', 'deploy', 'checker')
const runFile = promisify(execFile)

export type Checker =
  | {
      readonly kind: 'ready'
      run(words: readonly string[], env?: NodeJS.ProcessEnv): Promise<string>
    }
  | { readonly kind: 'missing'; readonly reason: string }

/** Each test file compiles another copy, because test files run at the same time. */
export async function prepareChecker(name: string): Promise<Checker> {
  const own = `${program}-${name}`
  const go = await prepareGo(folder, own)
  if (go.kind === 'missing') return go
  return {
    kind: 'ready',
    async run(words, env = {}) {
      const { stdout } = await runFile(own, [...words], { env, maxBuffer: 16 * 1_048_576 })
      return stdout
    },
  }
}

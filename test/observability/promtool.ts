/** Runs Prometheus' own checker; scripts/debian-packages.mjs installs it. */
import { spawn } from 'node:child_process'
import { gather } from '../support/gather.ts'

export async function runPromtool(
  words: readonly string[],
  input?: string,
): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn('promtool', words, { stdio: ['pipe', 'pipe', 'pipe'] })
  const out = gather(child.stdout)
  const error = gather(child.stderr)
  child.stdin.end(input)
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve(status ?? -1))
  })
  return { code, output: out.text() + error.text() }
}

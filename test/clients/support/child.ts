/**
 * Runs one program to its end with exactly the environment it is given, within a time limit after
 * which it is killed by its own id. What it printed comes back; its exit code is for the caller.
 */
import { spawn } from 'node:child_process'

export interface ChildOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly input?: string
  readonly timeoutMs: number
}

export interface ChildResult {
  /** Null where a signal ended it, the time limit's included. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export function runChild(options: ChildOptions): Promise<ChildResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(options.command, options.args, {
      cwd: options.cwd,
      env: options.env,
      timeout: options.timeoutMs,
      killSignal: 'SIGKILL',
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
    // A program that ends without reading its input is no error here.
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.input ?? '')
  })
}

/** `bin/turnpike` runs this on the project's own Node: installs packages that are missing, then the command. */
import { ensureInstalled } from './packages.mjs'
import { findRuntime, root } from './runtime.mjs'

if (ensureInstalled(root, 'production')) {
  // This Node may be one of the packages that were replaced.
  const runtime = findRuntime()
  process.execve(runtime, [runtime, ...process.execArgv, ...process.argv.slice(1)], process.env)
}
await import('../src/cli.ts')

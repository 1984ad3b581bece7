/** `npm start`: reads its words and settings; `turnpike start` does the same. */
import { parseArgs } from 'node:util'
import { serveWithDemo } from './cli/start.ts'
import { formatMistakes, loadConfig, processEnvironment } from './settings/read.ts'

async function main(): Promise<number> {
  const given = readWords(process.argv.slice(2))
  if (given.kind === 'mistake') {
    process.stderr.write(`npm start: ${given.message}\n`)
    return 2
  }
  const loaded = loadConfig({
    options: { config: given.config },
    env: processEnvironment(),
    cwd: process.cwd(),
  })
  if (loaded.kind === 'mistakes') {
    process.stderr.write(`${formatMistakes(loaded.list)}\n`)
    return 2
  }
  return serveWithDemo(loaded.config)
}

type Words =
  | { readonly kind: 'words'; readonly config: string | undefined }
  | { readonly kind: 'mistake'; readonly message: string }

function readWords(args: string[]): Words {
  try {
    const { values } = parseArgs({ args, options: { config: { type: 'string' } } })
    return { kind: 'words', config: values.config }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return { kind: 'mistake', message: `${error.message}\nUsage: npm start -- [--config PATH]` }
  }
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  // A failed start may have opened sockets and threads, which would keep the process running.
  process.exit(1)
}

/**
 * Lets Node run the program where npm has installed it: below node_modules Node reads no TypeScript. The types
 * are replaced with spaces, as Node does it elsewhere, so lines and columns stay. `bin/turnpike` loads this.
 */
import { readFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'

const program = new URL('../', import.meta.url).href
const packages = new URL('node_modules/', program).href

registerHooks({
  load(url, context, nextLoad) {
    const isOurs = url.startsWith(program) && !url.startsWith(packages)
    if (!isOurs || !url.endsWith('.ts')) return nextLoad(url, context)
    const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'))
    return { format: 'module', source, shortCircuit: true }
  },
})

/**
 * Lets Node run the program where npm has installed it: below node_modules Node reads no TypeScript. The files
 * of a release have no types; elsewhere they are replaced with spaces, as Node does it, so lines and columns
 * stay. `bin/turnpike` loads this.
 */
import { existsSync, readFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'

const program = new URL('../', import.meta.url).href
const packages = new URL('node_modules/', program).href
const isRelease = existsSync(new URL('build.json', program))

registerHooks({
  load(url, context, nextLoad) {
    const isOurs = url.startsWith(program) && !url.startsWith(packages)
    if (!isOurs || !url.endsWith('.ts')) return nextLoad(url, context)
    const text = readFileSync(fileURLToPath(url), 'utf8')
    const source = isRelease ? text : stripTypeScriptTypes(text)
    return { format: 'module', source, shortCircuit: true }
  },
})

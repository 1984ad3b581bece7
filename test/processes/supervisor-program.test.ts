/**
 * What the supervisor keeps in memory: it runs for months and serves no request. Goal: its program never
 * loads what only gateways and commands need. Follows the imports of its sources.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { it } from 'node:test'

const sources = join(import.meta.dirname, '..', '..', 'src')
const staticImport = /^(?:import|export) (?!type )[^']*?'(\.{1,2}\/[^']+)'/gm

function loadedBy(path: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path)) return found
  found.add(path)
  for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(staticImport))
    loadedBy(join(dirname(path), target), found)
  return found
}

it('is loaded without stores, formats and commands', () => {
  const loaded = [...loadedBy(join(sources, 'supervisor.ts'))].map((path) =>
    relative(sources, path),
  )
  assert.ok(loaded.includes('processes/slot.ts') && loaded.includes('base/clock.ts'))
  const rooms = new Set(loaded.map((path) => dirname(path).split('/')[0]))
  for (const room of [
    'storage',
    'ledger',
    'formats',
    'channels',
    'relay',
    'operations',
    'api',
    'cli',
  ])
    assert.ok(!rooms.has(room), room)
  assert.ok(!loaded.includes('app.ts') && loaded.length < 40, loaded.join())
})

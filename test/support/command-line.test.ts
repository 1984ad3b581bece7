import assert from 'node:assert/strict'
import { it } from 'node:test'
import { newFolder, run } from './command-line.ts'

it('a command that a signal ends has not succeeded', async () => {
  const environment = { NODE_OPTIONS: '--import=data:text/javascript,process.kill(process.pid,9)' }
  assert.equal((await run(newFolder(), ['--version'], environment)).code, -1)
  assert.equal((await run(newFolder(), ['--version'])).code, 0)
  assert.equal((await run(newFolder(), ['--bogus'])).code, 2)
})

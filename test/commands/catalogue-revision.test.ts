/** `turnpike export` and `apply` guard each other: an old file undoes no change from elsewhere unasked. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openProgram, type Program } from '../support/program.ts'

let program: Program
before(async () => {
  program = await openProgram({ MAIN_KEY: 'vendor-main' })
})
after(() => program.close())

function catalogue(more: string): string {
  return `
models:
  large-1: { vendor: alpha, max_input_tokens: 1000, price: { input: 3, output: 15 } }
channels:
  main: { vendor: alpha, url: "https://main.example", credential: env:MAIN_KEY, models: [large-1]${more} }
`
}

test('a file that would undo a later change says what and by whom, and ends with 1', async () => {
  await program.write('others.yaml', catalogue(''))
  await program.json('apply', '-f', 'others.yaml')
  const { out: exported } = await program.run('export')
  assert.match(exported, /^revision: [1-9]\d*-[0-9a-f]{8}\nvendors:/)
  await program.write('mine.yaml', exported.replace('weight: 1', 'weight: 5'))
  await program.write('others.yaml', catalogue(', rank: 3'))
  await program.json('apply', '-f', 'others.yaml')
  for (const words of [[], ['--dry-run']]) {
    const refused = await program.run('apply', '-f', 'mine.yaml', ...words)
    assert.equal(refused.code, 1, refused.out)
    assert.match(refused.error, /Others have changed .*\n.* cli:\S+: change channel main \(rank\)/)
    assert.match(refused.error, /force/)
  }
  const forced = await program.run('apply', '-f', 'mine.yaml', '--force')
  assert.equal(forced.code, 0, forced.error)
  // From then on the newest change is that of the file itself.
  await program.write('mine.yaml', exported.replace('weight: 1', 'weight: 6'))
  const again = await program.run('apply', '-f', 'mine.yaml')
  assert.equal(again.code, 0, again.error)
  const { revision } = await program.json<{ revision: string }>('export')
  assert.notEqual(revision, /^revision: (\S+)/.exec(exported)?.[1])
})

/**
 * Files from standard input, written slowly. Goal: the command waits for all of it and does the same as
 * with a file. Approach: the first piece is larger than a
 * pipe, so once it has been taken the command reads; the second one comes a good while later.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { it } from 'node:test'
import { json, newFolder, run, type Ran } from '../support/command-line.ts'
import { gather } from '../support/gather.ts'

const program = join(import.meta.dirname, '..', '..', 'src', 'cli.ts')

const catalogue = `
vendors: { alpha: { format: messages, credential: x-api-key, version_header: alpha-version, default_version: "1" } }
models: { large-1: { vendor: alpha, price: { input: 3.00, output: 15.00 } } }
channels:
  alpha-main: { vendor: alpha, url: http://127.0.0.1:9, credential: none, models: [large-1], check: none }
`
const prices = JSON.stringify({
  'large-1': { input_cost_per_token: 0.000004, output_cost_per_token: 0.00002 },
})
const counts = JSON.stringify([{ model: 'large-1', requests: 0, input_tokens: 0 }])
const period = '--from 2026-01-01 --to 2026-01-31'

const commands = [
  { line: 'apply --dry-run -f', file: 'catalogue.yaml', padding: '\n' },
  { line: 'price import --dry-run --valid-from 2099-01-01', file: 'prices.json', padding: ' ' },
  {
    line: `channel reconcile alpha-main ${period} --vendor-file`,
    file: 'counts.json',
    padding: ' ',
  },
]

for (const { line, file, padding } of commands)
  it(`${line} - waits for a slow writer`, async () => {
    const texts = { 'catalogue.yaml': catalogue, 'prices.json': prices, 'counts.json': counts }
    const folder = newFolder(texts)
    await json(folder, 'apply -f catalogue.yaml')
    const expected = await run(folder, [...line.split(' '), file, '--json'])
    assert.equal(expected.error, '')
    const text = texts[file as keyof typeof texts]
    const pieces = [padding.repeat(1_000_000) + text.slice(0, 10), text.slice(10)]
    const slow = await runSlowly(folder, [...line.split(' '), '-', '--json'], pieces)
    assert.deepEqual(withoutRun(slow), withoutRun(expected))
  })

/** A piece is written when the one before has been taken and another command has run to its end. */
async function runSlowly(
  cwd: string,
  words: readonly string[],
  pieces: readonly string[],
): Promise<Ran> {
  const child = spawn(process.execPath, [program, ...words], { cwd, stdio: 'pipe' })
  const closed = once(child, 'close')
  const [out, errors] = [gather(child.stdout), gather(child.stderr)]
  // A command that reads no further shows it by how it ends.
  child.stdin.on('error', () => undefined)
  for (const piece of pieces) {
    await new Promise<void>((resolve) => void child.stdin.write(piece, () => resolve()))
    await run(cwd, ['--version'])
  }
  child.stdin.end()
  const [code] = (await closed) as [number]
  return { code, out: out.text(), error: errors.text() }
}

/** Each comparison with a vendor is kept under a new id. */
function withoutRun<Ran extends { readonly out: string }>(ran: Ran): Ran {
  return { ...ran, out: ran.out.replace(/"rec_[0-9a-z]{26}"/, '"rec_"') }
}

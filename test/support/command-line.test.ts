/**
 * Most commands of tests run in processes that stay. Goal: a test sees no difference. Approach: each line
 * runs in a process of its own and in one that stays, on two stores, and both print the same but for ids,
 * times and measured figures.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { smallCatalogue } from './catalogues.ts'
import { runCommand, runInProcess, type Ran } from './command-hosts.ts'
import { newFolder, run } from './command-line.ts'

const unusedPort = 'http://127.0.0.1:9'
const files = {
  'catalog.yaml': smallCatalogue(unusedPort),
  'wrong.yaml': 'vendors:\n  alpha: { format: letters }\nmodles: {}\n',
}
const remote = { TURNPIKE_SERVER: unusedPort, TURNPIKE_TOKEN: `ad_${'a'.repeat(49)}` }

/** Commands end with tables, documents, help, wrong words or settings, refusals, without a server. */
const lines: readonly (readonly [line: string, code: number, env?: Record<string, string>])[] = [
  ['account create acme --balance 5 --json', 0],
  ['account list', 0],
  ['account list --json', 0],
  ['account show nobody', 1],
  ['account show nobody --json', 1],
  ['account credit acme 500000 --reference r', 2],
  ['apply -f catalog.yaml', 0],
  ['apply -f wrong.yaml', 1],
  ['apply -f missing.yaml --json', 2],
  ['export', 0],
  ['audit --json', 0],
  ['channel check alpha-main --json', 1],
  ['doctor --json', 1],
  ['backup copy.db', 0],
  ['completion bash', 0],
  ['--version', 0],
  ['key --help', 0],
  ['', 2],
  ['acount list', 2],
  ['account list --frobnicate --json', 2],
  ['account list', 2, { TURNPIKE_PING_TIMEOUT: 'soon' }],
  ['account list', 1, remote],
  ['account list', 1, { TURNPIKE_STORE: 'sqlite:elsewhere/t.db' }],
  ['account list', 0],
  ['serve', 2, { TURNPIKE_LISTEN: 'nowhere' }],
]

describe('a command in a process that has run others', () => {
  it('prints the same as in its own, with the same exit code', async () => {
    const [own, shared] = [newFolder(files), newFolder(files)]
    for (const [line, code, env = {}] of lines) {
      const words = line.split(' ').filter((word) => word !== '')
      const expected = view(await runInProcess(words, { cwd: own, env }), own)
      const ran = view(await runCommand(words, { cwd: shared, env }), shared)
      assert.deepEqual({ line, ...ran }, { line, ...expected })
      assert.equal(ran.code, code, `${line}: ${ran.error}`)
      assert.notEqual(`${ran.out}${ran.error}`, '', line)
    }
  })

  it('that a signal ends has not succeeded', async () => {
    const environment = {
      NODE_OPTIONS: '--import=data:text/javascript,process.kill(process.pid,9)',
    }
    assert.equal((await run(newFolder(), ['--version'], environment)).code, -1)
    assert.equal((await run(newFolder(), ['--version'])).code, 0)
    assert.equal((await run(newFolder(), ['--bogus'])).code, 2)
  })
})

/** What differs from store to store is replaced, and with it the width of columns. */
function view({ code, out, error }: Ran, folder: string): Ran {
  const plain = (text: string): string =>
    text
      .replaceAll(folder, 'FOLDER')
      .replaceAll(/(?<=^revision: \d+-)[0-9a-f]+$/gm, 'STORE')
      .replaceAll(/sealed:[\w.-]+/g, 'SEALED')
      .replaceAll(/\b[a-z]{2,5}_[0-9a-z]{26}\b/g, 'ID')
      .replaceAll(/\b20\d\d-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\b\d+(\.\d+)? (ms|s|bytes|MB)\b|(?<="(bytes|\w*ms)": )\d+/g, 'N')
      .replaceAll(/ {2,}/g, '  ')
  return { code, out: plain(out), error: plain(error) }
}

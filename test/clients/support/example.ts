/**
 * Runs an example as its page says, in a copy of its folder, against the gateway of a rig and with
 * nothing but the variables the page names.
 */
import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { billFor } from './charges.ts'
import { runChild, type ChildResult } from './child.ts'
import type { ClientRig } from './client-rig.ts'

const root = join(import.meta.dirname, '..', '..', '..')

export interface Example {
  /** Of the folder in `examples` and of the page in `docs/clients`. */
  readonly name: string
  /** For the shell, as the page has it behind the variables. */
  readonly command: string
  /** What the page installs beside the program: names in the folder, and where it is. */
  readonly links?: Readonly<Record<string, string>>
  /** What its toolchain needs of the machine. */
  readonly env?: Readonly<Record<string, string>>
}

/** Resolves with what it printed. It must end well, and be charged what the vendors served. */
export async function runExample(
  rig: ClientRig,
  example: Example,
  requestCount: number,
): Promise<string> {
  const caller = await rig.caller()
  const servedBefore = rig.gateway.sandbox.log.records.length
  const { code, stdout, stderr } = await runCopy(rig.gateway.url, example, caller)
  assert.equal(code, 0, stderr)
  const figures = await rig.figures(caller)
  assert.equal(figures.requests, requestCount)
  assert.deepEqual(figures, billFor(rig.gateway.sandbox.log.records.slice(servedBefore)))
  return stdout
}

/** What an example prints of each thing that it asks for, and the requests that this takes. */
const prints = {
  whole: { line: /Good morning|title=.*simulated/, requestCount: 1 },
  stream: { line: /Good evening|title=.*simulated/, requestCount: 1 },
  usage: { line: /\d tokens in, \d+ out$/, requestCount: 0 },
  tool: { line: /sent 3 message|sent 1 message.*weather tool/, requestCount: 2 },
  response: { line: /sent 1 message.*Good night/, requestCount: 1 },
  continued: { line: /sent [3-9] message.*(Sleep well|Good night)/, requestCount: 1 },
  embeddings: { line: /: 2$/, requestCount: 1 },
} as const

export type Printed = keyof typeof prints

/** Runs it; it must print exactly these lines, each with an answer to its request. */
export async function runLines(
  rig: ClientRig,
  example: Example,
  expected: readonly Printed[],
): Promise<void> {
  const requestCounts = expected.map((name) => prints[name].requestCount as number)
  const sum = requestCounts.reduce((total, count) => total + count, 0)
  const lines = (await runExample(rig, example, sum)).trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => line.slice(0, line.indexOf(':'))),
    expected,
  )
  for (const [index, name] of expected.entries())
    assert.match(lines[index] ?? '', prints[name].line)
}

/** Runs it with a wrong key. It must fail and show the gateway's own sentence about it. */
export async function refuseExample(rig: ClientRig, example: Example): Promise<void> {
  const caller = await rig.caller()
  const { code, stdout, stderr } = await runCopy(rig.gateway.url, example, {
    ...caller,
    key: 'cr_wrong',
  })
  assert.notEqual(code, 0)
  assert.match(stdout + stderr, /Incorrect API key provided\. Check the key/)
  await rig.assertUntouched(caller)
}

/** Runs it in a copy of its folder, against the gateway at an address. */
export async function runCopy(
  url: string,
  example: Example,
  secrets: { readonly key: string; readonly token: string },
): Promise<ChildResult> {
  const page = await readFile(join(root, 'docs', 'clients', `${example.name}.md`), 'utf8')
  assert.ok(page.includes(`${example.command}\n`), 'the page has another command')
  const copy = await mkdtemp(join(tmpdir(), 'turnpike-example-'))
  try {
    const { links = {} } = example
    // Somebody may have installed there what the page says.
    const filter = (path: string): boolean => !(basename(path) in links)
    await cp(join(root, 'examples', example.name), copy, { recursive: true, filter })
    for (const [name, path] of Object.entries(links)) await symlink(path, join(copy, name))
    return await runChild({
      command: 'sh',
      args: ['-c', `exec ${example.command}`],
      cwd: copy,
      timeoutMs: 300_000,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
        GATEWAY_URL: url,
        GATEWAY_KEY: secrets.key,
        GATEWAY_TOKEN: secrets.token,
        // Whatever it might ask for beyond loopback ends at the discard port.
        HTTPS_PROXY: 'http://127.0.0.1:9',
        HTTP_PROXY: 'http://127.0.0.1:9',
        NO_PROXY: '127.0.0.1',
        ...example.env,
      },
    })
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

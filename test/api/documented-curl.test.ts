/** The `curl` lines of docs/admin-api.md and docs/usage-api.md work as printed, in a shell. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createAdminToken } from '../support/operations.ts'
import { withScenario } from '../support/scenario.ts'

/** The shell commands of a page's blocks; a line that ends with a backslash goes on. */
function commandsOf(page: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', page), 'utf8')
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)
  return blocks.flatMap((block) => block.split(/(?<!\\)\n/).filter((line) => line !== ''))
}

interface Typed {
  readonly code: number
  readonly output: string
}

function type(command: string, environment: NodeJS.ProcessEnv): Promise<Typed> {
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], ...environment }
    execFile('sh', ['-c', command], { env }, (failure, output) => {
      resolve({ code: typeof failure?.code === 'number' ? failure.code : 0, output })
    })
  })
}

test('the calls of the admin API work as printed', () =>
  withScenario({}, async ({ adminUrl, context }) => {
    const { secret } = await createAdminToken(context, { name: 'page' })
    const environment = { TOKEN: secret, API: `${adminUrl}/admin/v1` }
    const commands = commandsOf('admin-api.md').filter((line) => line.startsWith('curl'))
    assert.equal(commands.length, 7)
    for (const command of commands) {
      // The feed of events has no end.
      const isEndless = command.includes('/events')
      const given = command.replace('curl', `curl --fail --silent --max-time ${isEndless ? 1 : 60}`)
      const { code, output } = await type(given, environment)
      assert.equal(code, isEndless ? 28 : 0, `${command}\n${output}`)
    }
  }))

test('the cost of a request is read as printed', () =>
  withScenario({}, async (gateway) => {
    const { url, account } = gateway
    const answer = await gateway.ask({ format: 'messages', isStream: false })
    const [command = ''] = commandsOf('usage-api.md')
    const given = command
      .replace('https://gateway.example', url)
      .replace(/ex_\w+/, String(answer.headers['x-turnpike-request-id']))
      .replace('ro_…', account.token)
    const { code, output } = await type(given, {})
    assert.equal(code, 0)
    assert.match(output, /"outcome":"completed"/)
  }))

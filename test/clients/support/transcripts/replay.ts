/** Requests that a program sends, sent again without the program, and what it would show of each answer. */
import type { Client, Ran } from './client.ts'
import type { Stage } from './scenes.ts'

interface Replayed {
  readonly path: string
  readonly headers: (key: string) => Readonly<Record<string, string>>
  readonly body?: object
}

const version = { 'anthropic-version': '2023-06-01' }

/** The test of a credential: n8n shows nothing of an answer but the reason phrase of its status. */
const credentialTests: readonly Replayed[] = [
  { path: '/alpha/v1/models', headers: (key) => ({ 'x-api-key': key, ...version }) },
  {
    path: '/alpha/v1/messages',
    headers: (key) => ({ 'x-api-key': key, 'content-type': 'application/json', ...version }),
    body: {
      model: 'claude-haiku-4-5-20251001',
      messages: [{ role: 'user', content: 'Hey' }],
      max_tokens: 1,
    },
  },
  { path: '/beta/v1/models', headers: (key) => ({ authorization: `Bearer ${key}` }) },
]

export const n8n: Client = {
  command: credentialTests
    .map(({ path, body }) => {
      const data = body === undefined ? '' : ` -d '${JSON.stringify(body)}'`
      return `curl http://127.0.0.1:8080${path}${data}`
    })
    .join('\n'),
  async run(stage) {
    const lines: string[] = []
    let code = 0
    for (const asked of credentialTests) {
      const { isGood, line } = await replay(stage, asked)
      lines.push(line)
      if (!isGood) code = 1
    }
    return { code, stdout: lines.join('\n'), stderr: '' } satisfies Ran
  },
}

async function replay(
  { origin, key }: Stage,
  { path, headers, body }: Replayed,
): Promise<{ readonly isGood: boolean; readonly line: string }> {
  const method = body === undefined ? 'GET' : 'POST'
  const answer = await fetch(origin + path, {
    method,
    headers: headers(key),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const { ok, status, statusText } = answer
  const shown = ok ? 'Connection successful!' : statusText || `Received HTTP status code: ${status}`
  const said = ok ? '' : `, of: ${readMessage(await answer.text())}`
  return { isGood: ok, line: `${method} ${path}: ${shown}${said}` }
}

function readMessage(text: string): string {
  const { error } = JSON.parse(text) as { readonly error?: { readonly message?: string } }
  return error?.message ?? text
}

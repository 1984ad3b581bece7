/** The clients that have a transcript, each with the packages that make its version. Loads no client. */
import { go, installedApart, npm, python, type Package } from '../../../support/client-pins.ts'

export interface ListedClient {
  readonly title: string
  readonly packages: readonly Package[]
  /** Requests that are sent again as a program sends them, without the program: which, and why. */
  readonly note?: string
}

const webUiNote =
  'Its own server runs with `USE_SLIM_DOCKER=true`, so without machine learning. It is asked as its page asks it.'

const n8nNote = `Replayed requests, read in the source: n8n shows the reason phrase of the status, and nothing else of
an answer. Releases before 2.17 test an Anthropic credential with the second request, later ones with the first; the
third tests an OpenAI credential.`

/** By the name of the transcript's file. */
export const listedClients = {
  'claude-code': { title: 'Claude Code', packages: npm('@anthropic-ai/claude-code') },
  'codex-own': { title: 'Codex CLI with its own model', packages: npm('@openai/codex') },
  'codex-other': { title: 'Codex CLI with another model', packages: npm('@openai/codex') },
  opencode: { title: 'opencode', packages: npm('opencode-linux-x64') },
  'qwen-code': {
    title: 'Qwen Code',
    packages: npm('@qwen-code/qwen-code'),
    note: 'The gateway has `stream_keepalive: 60s`. Without it Qwen Code leaves after 120 s without a head.',
  },
  pi: { title: 'pi', packages: [installedApart.pi] },
  'anthropic-javascript': {
    title: 'Anthropic SDK, JavaScript',
    packages: npm('@anthropic-ai/sdk'),
  },
  'openai-javascript': { title: 'OpenAI SDK, JavaScript', packages: npm('openai') },
  'anthropic-python': { title: 'Anthropic SDK, Python', packages: python('newest', 'anthropic') },
  'openai-python': { title: 'OpenAI SDK, Python', packages: python('newest', 'openai') },
  'anthropic-go': {
    title: 'Anthropic SDK, Go',
    packages: go('github.com/anthropics/anthropic-sdk-go'),
  },
  'openai-go': { title: 'OpenAI SDK, Go', packages: go('github.com/openai/openai-go/v3') },
  'open-webui-chat': {
    title: 'Open WebUI, a connection of the type chat completions',
    packages: python('open-webui', 'open-webui'),
    note: webUiNote,
  },
  'open-webui-responses': {
    title: 'Open WebUI, a connection of the type responses',
    packages: python('open-webui', 'open-webui'),
    note: webUiNote,
  },
  n8n: {
    title: 'n8n, the test of a credential',
    packages: [installedApart.n8n],
    note: n8nNote,
  },
  'ai-sdk': { title: 'AI SDK', packages: npm('ai', '@ai-sdk/anthropic', '@ai-sdk/openai') },
} as const satisfies Readonly<Record<string, ListedClient>>

export type ClientName = keyof typeof listedClients

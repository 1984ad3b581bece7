/** How each client of the list is run. An agent runs its page's command, a library its page's example. */
import { join } from 'node:path'
import {
  claudeCode,
  codex,
  codexTasks,
  opencode,
  otherAgents,
  type CodingAgent,
} from '../agents.ts'
import { runAgent, shownCommand } from '../agent.ts'
import { runCopy } from '../example.ts'
import { preparePython } from '../python.ts'
import { prepareGo, type Toolchain } from '../toolchains.ts'
import { installedApart } from '../../../support/client-pins.ts'
import { installApart, pi } from './apart.ts'
import type { ClientName } from './list.ts'
import type { Client } from './client.ts'
import { openWebUi } from './open-webui.ts'
import { n8n } from './replay.ts'

const packages = join(import.meta.dirname, '..', '..', 'node_modules')
const node = { links: { node_modules: packages } }
const timeoutMs = 600_000

/** What agents print whatever comes of their requests. */
const banners =
  /^(WARNING: proceeding|Reading additional input|OpenAI Codex|-{8}|user$|codex$|tokens used|[\d,]+$|(workdir|model|provider|approval|sandbox|reasoning \w+|session id): |warning: Model metadata|Say good morning|Claude Code doesn't recognize|\[claude-code:unrecognized_model\]|> build|Ripgrep not available|Warning: running headless)/

/** The fields and the place of an error that Node or Python prints. */
const errorFields = /^( {2,}|\t|\}|file:|Traceback|During handling|The above exception)/

export const clients: Readonly<Record<ClientName, () => Client | Promise<Client>>> = {
  'claude-code': () => agent(claudeCode),
  'codex-own': () =>
    agent({ ...codex, task: () => codexTasks['gpt-6.1-sol'] ?? [] }, '-m gpt-6.1-sol'),
  'codex-other': () => agent(codex),
  opencode: () => agent(opencode),
  'qwen-code': () => ({
    ...agent(otherAgents.find(({ page }) => page === 'qwen-code') ?? codex),
    settings: { stream_keepalive: '60s' },
  }),
  pi: async () => agent(pi(await installApart(installedApart.pi))),
  'anthropic-javascript': () => example('anthropic-sdk', 'node ask.mjs', node),
  'openai-javascript': () => example('openai-sdk', 'node ask.mjs', node),
  'anthropic-python': async () =>
    example('python', '.venv/bin/python ask-anthropic.py', await python()),
  'openai-python': async () => example('python', '.venv/bin/python ask-openai.py', await python()),
  'anthropic-go': async () => example('go', 'go run ./anthropic', ready(await prepareGo())),
  'openai-go': async () => example('go', 'go run ./openai', ready(await prepareGo())),
  'open-webui-chat': async () => openWebUi(await webUi(), 'chat_completions'),
  'open-webui-responses': async () => openWebUi(await webUi(), 'responses'),
  n8n: () => n8n,
  'ai-sdk': () => example('ai-sdk', 'node ask.mjs', node),
}

function agent(coding: CodingAgent, options = ''): Client {
  return {
    command: shownCommand(coding, options),
    drop: banners,
    async run(stage) {
      const { scene, key, name, origin } = stage
      const usesTools = scene === 'an answer with tools'
      const result = await runAgent({ origin }, coding, {
        caller: { key, name, headers: {} },
        options,
        timeoutMs,
        ...(usesTools ? { script: coding.task } : {}),
      })
      const { greeting, code, stdout, stderr } = result
      const work = usesTools ? `\n(The file that it edited now says: ${greeting.trim()})` : ''
      return { code, stdout: stdout + work, stderr }
    },
  }
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly links?: Readonly<Record<string, string>>
}

function example(name: string, command: string, surroundings: Surroundings): Client {
  return {
    command: `GATEWAY_KEY=cr_… ${command}`,
    drop: errorFields,
    run: ({ origin, key }) =>
      runCopy(origin, { name, command, ...surroundings }, { key, token: '' }),
  }
}

async function python(): Promise<Surroundings> {
  return { links: { '.venv': await environment('newest') } }
}

/** Its list leaves out packages that it names as needed and does not load in this mode. */
function webUi(): Promise<string> {
  return environment('open-webui', ['--no-deps'])
}

async function environment(list: string, options: readonly string[] = []): Promise<string> {
  const prepared = await preparePython(list, options)
  if (prepared.kind === 'missing') throw new Error(prepared.reason)
  return prepared.folder
}

function ready(toolchain: Toolchain): Surroundings {
  if (toolchain.kind === 'missing') throw new Error(toolchain.reason)
  return toolchain
}

/** The settings of agents and apps, line by line those of docs/clients. */
import { t } from '../messages/t.ts'
import { clients, type Client } from './snippets.ts'

const agents: readonly Client[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    format: 'messages',
    parts: ({ origin, vendor, model, smallModel }) => [
      {
        title: t('account.parts.terminal'),
        text: `export ANTHROPIC_BASE_URL=${origin}/${vendor}
export ANTHROPIC_AUTH_TOKEN=cr_…
export ANTHROPIC_MODEL=${model}
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${smallModel}
claude -p "Say good morning."`,
      },
    ],
  },
  {
    id: 'codex',
    name: 'Codex CLI',
    format: 'chat',
    parts: ({ origin, vendor, model }) => [
      {
        title: '~/.codex/config.toml',
        text: `model = "${model}"
model_provider = "turnpike"
web_search = "disabled"

[model_providers.turnpike]
name = "Turnpike"
base_url = "${origin}/${vendor}/v1"
env_key = "TURNPIKE_KEY"
wire_api = "responses"`,
      },
      {
        title: t('account.parts.terminal'),
        text: `export TURNPIKE_KEY=cr_…
codex exec --skip-git-repo-check "Say good morning."`,
      },
    ],
  },
  {
    id: 'opencode',
    name: 'opencode',
    format: 'chat',
    parts: ({ origin, vendor, model, smallModel }) => [
      {
        title: '~/.config/opencode/opencode.json',
        text: `{
  "$schema": "https://opencode.ai/config.json",
  "model": "turnpike/${model}",
  "small_model": "turnpike/${smallModel}",
  "provider": {
    "turnpike": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Turnpike",
      "options": {
        "baseURL": "${origin}/${vendor}/v1",
        "apiKey": "{env:TURNPIKE_KEY}"
      },
      "models": {
${[...new Set([model, smallModel])]
  .map((name) => `        "${name}": { "limit": { "context": 200000, "output": 8192 } }`)
  .join(',\n')}
      }
    }
  }
}`,
      },
      {
        title: t('account.parts.terminal'),
        text: `export TURNPIKE_KEY=cr_…
opencode run "Say good morning."`,
      },
    ],
  },
  {
    id: 'cline',
    name: 'Cline',
    format: 'chat',
    parts: ({ origin, vendor, model }) => [
      {
        title: t('account.parts.terminal'),
        text: `export TURNPIKE_KEY=cr_…
cline auth --provider openai-compatible --baseurl ${origin}/${vendor}/v1 --apikey "$TURNPIKE_KEY" --modelid ${model}
cline "Say good morning."`,
      },
    ],
  },
  {
    id: 'continue',
    name: 'Continue',
    format: 'chat',
    parts: ({ origin, vendor, model }) => [
      {
        title: '~/.continue/config.yaml',
        text: `name: Turnpike
version: 1.0.0
schema: v1
models:
  - name: ${model}
    provider: openai
    model: ${model}
    apiBase: ${origin}/${vendor}/v1
    apiKey: cr_…
    roles: [chat, edit, apply]
    defaultCompletionOptions:
      contextLength: 200000
      maxTokens: 8192`,
      },
      {
        title: t('account.parts.terminal'),
        text: `cn --config ~/.continue/config.yaml --auto -p "Say good morning."`,
      },
    ],
  },
  {
    id: 'qwen-code',
    name: 'Qwen Code',
    format: 'chat',
    parts: ({ origin, vendor, model }) => [
      {
        title: t('account.parts.terminal'),
        text: `export OPENAI_BASE_URL=${origin}/${vendor}/v1
export OPENAI_API_KEY=cr_…
export OPENAI_MODEL=${model}
qwen --auth-type openai "Say good morning."`,
      },
    ],
  },
  {
    id: 'aider',
    name: 'aider',
    format: 'chat',
    parts: ({ origin, vendor, model }) => [
      {
        title: t('account.parts.terminal'),
        text: `export OPENAI_API_BASE=${origin}/${vendor}/v1
export OPENAI_API_KEY=cr_…
aider --model openai/${model} --message "Say good morning."`,
      },
    ],
  },
  {
    id: 'open-webui',
    name: 'Open WebUI',
    format: 'chat',
    parts: ({ origin, vendor }) => [
      {
        title: t('account.parts.terminal'),
        text: `export OPENAI_API_BASE_URL=${origin}/${vendor}/v1
export OPENAI_API_KEY=cr_…
export ENABLE_OLLAMA_API=false
open-webui serve`,
      },
    ],
  },
]

export const allClients: readonly Client[] = [...clients, ...agents]

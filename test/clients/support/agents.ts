/** The coding agents that tests run, and what each calls the tools of one task. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent, Script } from './agent.ts'
import { findBinary } from './claude-code.ts'

const packages = join(import.meta.dirname, '..', 'node_modules')

/** An agent that can read a file, edit it and run a command. */
export interface CodingAgent extends Agent {
  readonly title: string
  /** The package that tests install. */
  readonly package: string
  /** Reads `greeting.txt`, makes an evening of its morning, and counts its bytes into `count.txt`. */
  readonly task: (file: string) => Script
  /** It reports the output of a command that ends at once on some runs only. */
  readonly mayLoseOutput?: true
}

export function isInstalled(agent: CodingAgent): boolean {
  return existsSync(join(packages, agent.package))
}

const [before, after] = ['Good morning', 'Good evening']
const count = 'wc -c greeting.txt | tee count.txt'

const patch = `*** Begin Patch
*** Update File: greeting.txt
@@
-${before}
+${after}
*** End Patch
`

export const codex: CodingAgent = {
  title: 'Codex CLI',
  page: 'codex',
  package: '@openai/codex',
  settings: {
    path: '.codex/config.toml',
    language: 'toml',
    preface: `sandbox_mode = "danger-full-access"
features = { plugins = false, apps = false }
analytics = { enabled = false }
check_for_update_on_startup = false
`,
  },
  env: {},
  task: () => [
    { name: 'exec_command', arguments: { cmd: 'cat greeting.txt' } },
    { name: 'exec_command', arguments: { cmd: `apply_patch <<'END'\n${patch}END` } },
    { name: 'exec_command', arguments: { cmd: count } },
  ],
}

/** How models that Codex knows edit the file: by a tool for patches, or by a program that calls tools. */
export const codexTasks: Readonly<Record<string, Script>> = {
  'gpt-5.5': [{ name: 'apply_patch', input: patch }],
  'gpt-6.1-sol': [
    { name: 'exec', input: `await tools.apply_patch(${JSON.stringify(patch)}); text('done')` },
  ],
}

export const claudeCode: CodingAgent = {
  title: 'Claude Code',
  page: 'claude-code',
  package: '@anthropic-ai/claude-code',
  program: { name: 'claude', path: findBinary() },
  env: {
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
  },
  files: { '.claude/settings.json': '{ "permissions": { "allow": ["Read", "Edit", "Bash"] } }' },
  headerVariable: 'ANTHROPIC_CUSTOM_HEADERS',
  task: (file) => [
    { name: 'Read', arguments: { file_path: file } },
    { name: 'Edit', arguments: { file_path: file, old_string: before, new_string: after } },
    { name: 'Bash', arguments: { command: count, description: 'Counts the bytes' } },
  ],
}

export const opencode: CodingAgent = {
  title: 'opencode',
  page: 'opencode',
  package: 'opencode-linux-x64',
  settings: { path: '.config/opencode/opencode.json', language: 'json' },
  program: { name: 'opencode', path: join(packages, 'opencode-linux-x64', 'bin', 'opencode') },
  env: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  },
  task: (file) => [
    { name: 'read', arguments: { filePath: file } },
    { name: 'edit', arguments: { filePath: file, oldString: before, newString: after } },
    { name: 'bash', arguments: { command: count, description: 'Counts the bytes' } },
  ],
}

export const otherAgents: readonly CodingAgent[] = [
  {
    title: 'Cline',
    page: 'cline',
    package: '@cline/cli-linux-x64',
    env: { CLINE_SESSION_BACKEND_MODE: 'local', CLINE_NO_AUTO_UPDATE: '1' },
    files: {
      '.cline/data/settings/global-settings.json':
        '{ "telemetryOptOut": true, "autoUpdateEnabled": false }',
    },
    task: (file) => [
      { name: 'read_files', arguments: { files: [{ path: file }] } },
      { name: 'editor', arguments: { path: file, old_text: before, new_text: after } },
      { name: 'run_commands', arguments: { commands: [count] } },
    ],
  },
  {
    title: 'Continue',
    page: 'continue',
    package: '@continuedev/cli',
    settings: { path: '.continue/config.yaml', language: 'yaml' },
    env: { CONTINUE_TELEMETRY_ENABLED: '0' },
    task: (file) => [
      { name: 'Read', arguments: { filepath: file } },
      { name: 'Edit', arguments: { file_path: file, old_string: before, new_string: after } },
      { name: 'Bash', arguments: { command: count } },
    ],
  },
  {
    title: 'Qwen Code',
    page: 'qwen-code',
    package: '@qwen-code/qwen-code',
    mayLoseOutput: true,
    env: {},
    files: {
      '.qwen/settings.json': `{
          "privacy": { "usageStatisticsEnabled": false },
          "general": { "enableAutoUpdate": false },
          "memory": { "enableManagedAutoMemory": false },
          "tools": { "approvalMode": "yolo", "shell": { "enableInteractiveShell": false } }
        }`,
    },
    task: (file) => [
      { name: 'read_file', arguments: { file_path: file } },
      { name: 'edit', arguments: { file_path: file, old_string: before, new_string: after } },
      {
        name: 'run_shell_command',
        arguments: { command: count, description: 'Counts the bytes', is_background: false },
      },
    ],
  },
]

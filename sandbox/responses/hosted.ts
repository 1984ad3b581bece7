/**
 * The items of tools that the vendor runs itself: web search, file search, code, images, remote MCP
 * servers. Their work is not output tokens; the vendor bills it by call.
 */
import type { JsonObject } from '../request.ts'
import type { Item } from './accounts.ts'
import type { ItemEvent, OutputItem } from './items.ts'

interface HostedTool {
  /** Type of the item, and part of the names of its events. */
  readonly type: string
  /** Begins its id. */
  readonly prefix: string
  /** The events before the last one. One that only names a state of the item is its name. */
  readonly steps: readonly (string | ItemEvent)[]
  readonly running: JsonObject
  readonly done: JsonObject
}

const query = 'simulated search'
const code = 'print("simulated")'
const image = Buffer.alloc(48, 7).toString('base64')
const mcpArguments = '{"query":"simulated"}'

function codeEvents(): readonly ItemEvent[] {
  const name = 'response.code_interpreter_call_code'
  return [
    { type: `${name}.delta`, members: { delta: code } },
    { type: `${name}.done`, members: { code } },
  ]
}

function argumentEvents(): readonly ItemEvent[] {
  const name = 'response.mcp_call_arguments'
  return [
    { type: `${name}.delta`, members: { delta: mcpArguments } },
    { type: `${name}.done`, members: { arguments: mcpArguments } },
  ]
}

const mcpCall = {
  approval_request_id: null,
  error: null,
  name: 'search',
  server_label: 'simulated',
}

/** By the type of the tool in a request. */
const hostedTools = {
  web_search: {
    type: 'web_search_call',
    prefix: 'ws',
    steps: ['in_progress', 'searching'],
    running: {},
    done: { action: { type: 'search', queries: [query], query } },
  },
  file_search: {
    type: 'file_search_call',
    prefix: 'fs',
    steps: ['in_progress', 'searching'],
    running: { queries: [], results: null },
    done: { queries: [query], results: null },
  },
  code_interpreter: {
    type: 'code_interpreter_call',
    prefix: 'ci',
    steps: ['in_progress', ...codeEvents(), 'interpreting'],
    running: { code: '', container_id: 'cntr_sandbox', outputs: null },
    done: { code, container_id: 'cntr_sandbox', outputs: null },
  },
  image_generation: {
    type: 'image_generation_call',
    prefix: 'ig',
    steps: [
      'in_progress',
      'generating',
      {
        type: 'response.image_generation_call.partial_image',
        members: { partial_image_b64: image, partial_image_index: 0 },
      },
    ],
    running: {},
    done: { output_format: 'png', quality: 'low', result: image, size: '1024x1024' },
  },
  mcp: {
    type: 'mcp_call',
    prefix: 'mcp',
    steps: ['in_progress', ...argumentEvents()],
    running: { ...mcpCall, arguments: '', output: null },
    done: { ...mcpCall, arguments: mcpArguments, output: 'simulated result' },
  },
} as const satisfies Readonly<Record<string, HostedTool>>

export type HostedName = keyof typeof hostedTools

/** Returns the tool of this type; also of its older names, such as `web_search_preview`. */
export function findHosted(type: string): HostedName | undefined {
  return (Object.keys(hostedTools) as HostedName[]).find((name) => type.startsWith(name))
}

export function hostedItem(name: HostedName, makeId: (prefix: string) => string): OutputItem {
  const tool: HostedTool = hostedTools[name]
  const id = makeId(tool.prefix)
  const item = (status: string, more: JsonObject): Item => ({
    id,
    type: tool.type,
    status,
    ...more,
  })
  return {
    id,
    added: item('in_progress', tool.running),
    done: () => item('completed', tool.done),
    *events() {
      for (const step of tool.steps) {
        const isState = typeof step === 'string'
        yield isState ? { type: `response.${tool.type}.${step}`, members: {} } : step
      }
      yield { type: `response.${tool.type}.completed`, members: {} }
    },
  }
}

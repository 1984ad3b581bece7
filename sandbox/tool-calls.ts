/**
 * The calls of the client's tools that an answer makes: those of a script, or one whose input fits
 * the tool.
 */
import { fromList, jsonPieces, splitWords } from './pieces.ts'
import type { Pieces } from './pieces.ts'
import type { OfferedTool, SandboxRequest } from './request.ts'
import { buildInstance } from './schema-instance.ts'
import type { ScriptedCall } from './script.ts'

type Calling = Pick<SandboxRequest, 'scriptedCalls' | 'toolToCall' | 'tools' | 'lastText'>

export function callsOf(request: Calling): readonly ScriptedCall[] {
  const { scriptedCalls, toolToCall, tools, lastText } = request
  if (scriptedCalls.length > 0) return scriptedCalls
  const tool = toolToCall ?? tools[0]
  if (tool === undefined) return [{ name: 'simulated_tool', input: { query: 'a' } }]
  return [{ name: tool.name, input: inputFor(tool, lastText) }]
}

function inputFor(tool: OfferedTool, lastText: string): unknown {
  return tool.isCustom ? 'simulated custom input' : buildInstance(tool.schema, lastText)
}

export function isCustomTool({ tools }: Calling, { name }: ScriptedCall): boolean {
  return tools.some((tool) => tool.name === name && tool.isCustom)
}

/** A custom tool that gets arguments reads them as text. */
export function textPieces(input: unknown): Pieces {
  return fromList(splitWords(typeof input === 'string' ? input : JSON.stringify(input)))
}

/** A function that gets plain text reads it as its member `input`. */
export function argumentPieces(input: unknown): Pieces {
  return jsonPieces(typeof input === 'string' ? { input } : input)
}

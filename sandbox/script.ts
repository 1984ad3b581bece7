/**
 * A script: tool calls that a model makes one step after the other, so that an agent works through
 * a whole task. A step is one call, or several at once. The number of results that the request
 * brings back says which step is next; after the last one the answer is text.
 */
import { z } from 'zod'

const call = z.union([
  z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
  z.strictObject({ name: z.string(), input: z.string() }),
])

const script = z.array(z.union([call, z.array(call).min(1)]))

type Script = z.infer<typeof script>

export interface ScriptedCall {
  readonly name: string
  /** The arguments of a function, or the plain text of a custom tool. */
  readonly input: unknown
}

/** Writes the directive `script`. */
export function scriptDirective(steps: Script): string {
  return `script=${encodeURIComponent(JSON.stringify(steps))}`
}

export function isScript(text: string): boolean {
  return parse(text) !== undefined
}

/** Returns the calls of the next step: none after the last one. */
export function nextCalls(text: string, resultCount: number): readonly ScriptedCall[] {
  let before = 0
  for (const step of parse(text) ?? []) {
    const calls = Array.isArray(step) ? step : [step]
    if (resultCount < before + calls.length) {
      return calls.slice(Math.max(0, resultCount - before)).map((one) => ({
        name: one.name,
        input: 'input' in one ? one.input : one.arguments,
      }))
    }
    before += calls.length
  }
  return []
}

function parse(text: string): Script | undefined {
  try {
    return script.safeParse(JSON.parse(text)).data
  } catch {
    return undefined // The schema of directives reports it.
  }
}

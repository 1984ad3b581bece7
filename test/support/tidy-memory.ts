/** The tidy rule about what keeps an ended exchange in memory. */
import { viewSource } from './source-text.ts'
import { isTest, moduleOf, type SourceFile } from './tidy-rules.ts'

/** Where a request passes, and so many objects are made that it matters how long each lives. */
const busyLayers: ReadonlySet<string> = new Set([
  'http',
  'relay',
  'channels',
  'formats',
  'metering',
  'ledger',
  'access',
  'telemetry',
])

const assignedFunction =
  /\.#?\w+\s*(?:\?\?|\|\|)?=\s*(?:async\b\s*)?(?:function\b|\w+\s*=>|\([^()]*\)(?:\s*:[^=;]+)?\s*=>)/g

/**
 * `thing.onEnd = () => …`: V8 takes a function that is written as the value of an assignment to a
 * property for a method that stays, and makes it among the old objects. All it reaches then lives
 * until the next full collection.
 */
export function findAssignedFunctions(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => busyLayers.has(moduleOf(path)) && !isTest(path))
    .flatMap(({ path, text }) => {
      const code = viewSource(text).codeOnly
      return [...code.matchAll(assignedFunction)].map(({ index }) => {
        const number = code.slice(0, index).split('\n').length
        return `${path}:${number} assigns a new function to a property, which keeps its exchange in memory: assign an object with methods`
      })
    })
}

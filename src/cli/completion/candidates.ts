/**
 * Finds what may follow the words of an unfinished command line: from commander's own tree, so that a new
 * command or option completes without an entry here.
 */
import type { Argument, Command, Option } from 'commander'
import { choicesOf } from '../field-words.ts'

interface Candidate {
  readonly value: string
  /** What shells show beside it; may be empty. */
  readonly description: string
}

type Candidates =
  | { readonly kind: 'list'; readonly list: readonly Candidate[] }
  /** Paths, which the shell itself completes. */
  | { readonly kind: 'files' }

const fileNames: ReadonlySet<string> = new Set(['file', 'path'])
const nothing: Candidates = { kind: 'list', list: [] }

/** Returns what may stand in place of the last word, which may be empty. */
export function candidatesFor(program: Command, words: readonly string[]): Candidates {
  const { command, position, pending, isOptionsEnd } = walk(program, words.slice(0, -1))
  const current = words.at(-1) ?? ''
  if (pending !== undefined) return valuesOf(valueName(pending), choicesOf.get(pending), current)
  if (current.startsWith('-') && !isOptionsEnd) return matching(optionsOf(command), current)
  const inner = command.createHelp().visibleCommands(command)
  if (inner.length > 0) return position === 0 ? matching(inner.map(commandOf), current) : nothing
  const argument = argumentAt(command, position)
  if (argument !== undefined) return valuesOf(argument.name(), argument.argChoices, current)
  return isOptionsEnd ? nothing : matching(optionsOf(command), current)
}

interface Walk {
  readonly command: Command
  /** How many arguments of `command` stand before the last word. */
  readonly position: number
  /** The option whose value the last word is. */
  readonly pending: Option | undefined
  /** True behind `--`. */
  readonly isOptionsEnd: boolean
}

function walk(program: Command, before: readonly string[]): Walk {
  let at: Walk = { command: program, position: 0, pending: undefined, isOptionsEnd: false }
  for (const word of before) at = step(at, word)
  return at
}

function step(at: Walk, word: string): Walk {
  if (at.pending !== undefined) return { ...at, pending: undefined }
  if (at.isOptionsEnd) return { ...at, position: at.position + 1 }
  if (word === '--') return { ...at, isOptionsEnd: true }
  if (word.startsWith('-') && word !== '-') {
    const option = allOptions(at.command).find(({ short, long }) => word === short || word === long)
    return { ...at, pending: option !== undefined && takesValue(option) ? option : undefined }
  }
  const inner = at.command.commands.find((one) => one.name() === word)
  return inner === undefined
    ? { ...at, position: at.position + 1 }
    : { ...at, command: inner, position: 0 }
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional
}

/** Options of a command and of those around it: all may stand behind it. */
function allOptions(command: Command): readonly Option[] {
  const help = command.createHelp()
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
}

function optionsOf(command: Command): readonly Candidate[] {
  return allOptions(command).map(({ long, short, description }) => ({
    value: long ?? short ?? '',
    description,
  }))
}

function commandOf(command: Command): Candidate {
  return { value: command.name(), description: command.description() }
}

function valueName({ flags }: Option): string {
  return /[<[]([^>\].]+)/.exec(flags)?.[1] ?? ''
}

function argumentAt({ registeredArguments }: Command, position: number): Argument | undefined {
  const last = registeredArguments.at(-1)
  return registeredArguments[position] ?? (last?.variadic === true ? last : undefined)
}

function valuesOf(name: string, choices: readonly string[] | undefined, current = ''): Candidates {
  if (choices !== undefined)
    return matching(
      choices.map((value) => ({ value, description: '' })),
      current,
    )
  return fileNames.has(name) ? { kind: 'files' } : nothing
}

function matching(list: readonly Candidate[], current: string): Candidates {
  return { kind: 'list', list: list.filter(({ value }) => value.startsWith(current)) }
}

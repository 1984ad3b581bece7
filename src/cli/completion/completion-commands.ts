/** `turnpike completion`, and `complete-words`, which its scripts call at each press of the Tab key. */
import { Argument, type Command } from 'commander'
import { commandClock } from '../../base/clock.ts'
import { accountEndpoints } from '../../operations/accounts/endpoints.ts'
import { alertEndpoints } from '../../operations/alerts/endpoints.ts'
import { catalogueEndpoints } from '../../operations/catalogue/endpoints.ts'
import { channelEndpoints } from '../../operations/channels/endpoints.ts'
import type { Endpoint } from '../../operations/endpoint.ts'
import type { Page } from '../../operations/paging.ts'
import { exitCodes, actionOf } from '../command.ts'
import { withRun, type Run } from '../run.ts'
import { candidatesFor, type Candidate, type NameKind } from './candidates.ts'
import { filesMark, scripts, shells, type Shell } from './scripts.ts'

export function addCompletionCommands(program: Command): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .addHelpText(
      'after',
      `
Add one of these lines to the start-up file of your shell:
  source <(turnpike completion bash)        ~/.bashrc
  source <(turnpike completion zsh)         ~/.zshrc
  turnpike completion fish | source         ~/.config/fish/config.fish`,
    )
    .action(
      actionOf(async ({ arguments: [shell = 'bash'] }) => {
        const script = scripts[shell as Shell]
        return { json: { shell, script }, text: script }
      }),
    )
  program
    .command('complete-words', { hidden: true })
    .description('print what may stand in place of the last word')
    .argument('[words...]', 'the words of the line, without the name of the program')
    .action(
      actionOf(async ({ arguments: given }) => {
        const words = given.filter((word) => word !== undefined)
        const lines = await completionLines(program, words)
        return { json: lines, text: lines.join('\n') }
      }),
    )
}

async function completionLines(
  program: Command,
  words: readonly string[],
): Promise<readonly string[]> {
  const candidates = candidatesFor(program, words)
  if (candidates.kind === 'files') return [filesMark]
  const current = words.at(-1) ?? ''
  const list =
    candidates.kind === 'list'
      ? candidates.list
      : (await findNames(candidates.of, program, words)).map((value): Candidate => ({
          value,
          description: candidates.of,
        }))
  return list
    .filter(({ value }) => value.startsWith(current) && !/\p{C}/u.test(value))
    .map(({ value, description }) => `${value}\t${description}`)
}

/** Someone waits for the names with a finger on the key. */
const namesTimeoutMs = 2_000

/** Returns the names there are. Without a store, settings or time there are none: Tab shows no errors. */
async function findNames(
  kind: NameKind,
  program: Command,
  words: readonly string[],
): Promise<readonly string[]> {
  const timer = commandClock.after(namesTimeoutMs, () => process.exit(exitCodes.done))
  try {
    // The program's own options, such as `--config FILE`.
    program.parseOptions([...words])
    const given = { arguments: [], options: program.opts() }
    return await withRun(given, 'as_it_is', (run) => readNames(kind, run))
  } catch {
    return []
  } finally {
    timer.cancel()
  }
}

/** The lists that names come from. */
const lists: Readonly<Record<NameKind, Endpoint<Page<Named>>>> = {
  account: accountEndpoints.list,
  channel: channelEndpoints.list,
  model: catalogueEndpoints.models,
  target: alertEndpoints.list,
}

type Named = { readonly name: string } | { readonly id: string }

async function readNames(kind: NameKind, run: Run): Promise<readonly string[]> {
  const listed = await run.callAll(lists[kind])
  if (listed.kind !== 'done') return []
  return listed.value.map((one) => ('name' in one ? one.name : one.id))
}

/** `turnpike completion`, and `complete-words`, which its scripts call at each press of the Tab key. */
import { Argument, type Command } from 'commander'
import { actionOf } from '../command.ts'
import { candidatesFor } from './candidates.ts'
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
        const lines = completionLines(program, words)
        return { json: lines, text: lines.join('\n') }
      }),
    )
}

function completionLines(program: Command, words: readonly string[]): readonly string[] {
  const candidates = candidatesFor(program, words)
  return candidates.kind === 'files'
    ? [filesMark]
    : candidates.list.map(({ value, description }) => `${value}\t${description}`)
}

/**
 * `turnpike init`: writes a catalogue and a settings file to begin with. The invariant: it replaces no
 * file, and where it fails it leaves none behind.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { GatewayError } from '../../base/errors.ts'
import { makeFolder } from '../../base/folders.ts'
import type { Answer } from '../command.ts'
import { refuseServer } from '../place.ts'
import { plainRow } from '../row.ts'
import { catalogueWith, startingChannels } from '../../operations/catalogue/starting-catalogue.ts'

/** Two vendors, and one of them in a second cloud as reserve. */
const usualChannels = ['anthropic', 'bedrock', 'openai']
const everyChannel = Object.keys(startingChannels)

export const initCommand = plainRow({
  words: 'init',
  text: 'write catalog.yaml and turnpike.yaml to begin with',
  more: {
    '[vendor...]': {
      text: `what the catalogue reaches; all for all of them (default: ${usualChannels.join(', ')})`,
      choices: [...everyChannel, 'all'],
    },
    '--dir <path>': 'the folder to write them to (default: this folder)',
  },
  help: `The catalogue has addresses, current models, prices and limits, and comments that say what to change.
Several clouds with the same models become one vendor with a main channel and reserves.
Where one of the files exists, the command writes nothing.

Vendors:
${Object.entries(startingChannels)
  .map(([name, reached]) => `  ${name.padEnd(14)} ${reached}`)
  .join('\n')}

Examples:
  turnpike init --dir gateway
  turnpike init anthropic foundry deepseek`,
  work: async ({ arguments: given, options }) => {
    refuseServer(options)
    const { dir } = options
    const names = new Set(given.filter((name) => name !== undefined))
    return writeFiles(resolve(typeof dir === 'string' ? dir : '.'), {
      'catalog.yaml': catalogueWith(channelsMeant(names)),
      'turnpike.yaml': readFileSync(join(import.meta.dirname, 'turnpike.yaml'), 'utf8'),
    })
  },
})

function channelsMeant(names: ReadonlySet<string>): ReadonlySet<string> {
  if (names.has('all')) return new Set(everyChannel)
  return names.size === 0 ? new Set(usualChannels) : names
}

/** Writes the texts to files of these names. */
function writeFiles(folder: string, texts: Readonly<Record<string, string>>): Answer {
  const paths = Object.keys(texts).map((name) => join(folder, name))
  const standing = paths.filter((path) => existsSync(path))
  if (standing.length > 0) throw standingFiles(standing)
  makeFolder(folder)
  const begun: string[] = []
  try {
    for (const [name, text] of Object.entries(texts)) {
      const path = join(folder, name)
      // Another process may have made the file meanwhile; then it is not ours to remove.
      writeFileSync(path, '', { flag: 'wx' })
      begun.push(path)
      writeFileSync(path, text)
    }
  } catch (error) {
    for (const path of begun) rmSync(path, { force: true })
    throw error
  }
  return { json: { files: paths }, text: nextSteps(paths) }
}

function standingFiles(paths: readonly string[]): GatewayError {
  const verb = paths.length === 1 ? 'exists' : 'exist'
  return new GatewayError(
    'operations.conflict',
    `${paths.join(' and ')} ${verb} already. Nothing was written. Name another folder with --dir.`,
  )
}

function nextSteps(paths: readonly string[]): string {
  return [
    ...paths.map((path) => `Wrote ${path}`),
    '',
    'Remove the vendors that you do not use, compare the prices with those of the vendors, and set the',
    'variables that the catalogue names. Then, in that folder:',
    '',
    '  turnpike apply -f catalog.yaml --dry-run',
    '  turnpike apply -f catalog.yaml',
    '  turnpike serve',
  ].join('\n')
}

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

const fileNames = ['catalog.yaml', 'turnpike.yaml']

export const initCommand = plainRow({
  words: 'init',
  text: 'write catalog.yaml and turnpike.yaml to begin with',
  more: { '--dir <path>': 'the folder to write them to (default: this folder)' },
  help: `The files have the addresses of well-known vendors, and comments that say what to change.
Where one of the files exists, the command writes nothing.

Example:
  turnpike init --dir gateway`,
  work: async ({ options }) => {
    refuseServer(options)
    const { dir } = options
    return writeFiles(resolve(typeof dir === 'string' ? dir : '.'))
  },
})

function writeFiles(folder: string): Answer {
  const paths = fileNames.map((name) => join(folder, name))
  const standing = paths.filter((path) => existsSync(path))
  if (standing.length > 0) throw standingFiles(standing)
  makeFolder(folder)
  const begun: string[] = []
  try {
    for (const [index, name] of fileNames.entries()) {
      const path = join(folder, name)
      // Another process may have made the file meanwhile; then it is not ours to remove.
      writeFileSync(path, '', { flag: 'wx' })
      begun[index] = path
      writeFileSync(path, readFileSync(join(import.meta.dirname, name)))
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

/** What a client printed, as a reader needs it: no colours, no traces, nothing of this run alone. */
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Stage } from './scenes.ts'

const linesMax = 8
const lineCharactersMax = 500
const root = join(import.meta.dirname, '..', '..', '..', '..')

export interface Printed {
  readonly stdout: string
  readonly stderr: string
}

/** `drop`: lines that say nothing about the scene, such as a program's banner. */
export function readScreen({ stdout, stderr }: Printed, stage: Stage, drop?: RegExp): string {
  const lines = mask(stripVTControlCharacters(`${stdout}\n${stderr}`), stage)
    .split(/\r?\n|\r/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !isTrace(line) && drop?.test(line) !== true)
    .filter((line, index, all) => line !== all[index - 1])
  const cut = lines.length > linesMax ? [...lines.slice(0, linesMax - 1), '…'] : lines
  return cut.map(shorten).join('\n')
}

function isTrace(line: string): boolean {
  return /^\s+at \S|^\s*File "|^\s*\^+$|^Node\.js v|^\s*~+\^*~*$/.test(line)
}

function shorten(line: string): string {
  return line.length > lineCharactersMax ? `${line.slice(0, lineCharactersMax)}…` : line
}

function mask(text: string, { origin, key }: Stage): string {
  return text
    .replaceAll(new URL(origin).host, '127.0.0.1:8080')
    .replaceAll(key, 'cr_…')
    .replaceAll(/^\d{4}(\/\d\d){2} (\d\d:){2}\d\d /gm, '')
    .replaceAll(root, '.')
    .replaceAll(/\(request [\da-f]+\)/g, '(request …)')
    .replaceAll(/\[\[.*?\]\]/g, '')
    .replaceAll(/\bex_\w+/g, 'ex_…')
    .replaceAll(/(\/[\w.-]+)*\/turnpike-\w+-\w+/g, '/tmp/folder')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '…')
}

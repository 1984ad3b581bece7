/**
 * Keeps what a run has found: the report between two marks of the documentation, and all figures as
 * JSON under a name with date and commit.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Figures } from '../measure/figures.ts'

/** The reports of the documentation, each between marks of its own. */
export type ReportName = 'bench' | 'growth' | 'stores'

export function writeReport(root: string, report: string, name: ReportName = 'bench'): string {
  const path = join(root, 'docs', 'performance.md')
  writeFileSync(path, replaceBetweenMarks(readFileSync(path, 'utf8'), report, name))
  return path
}

/** The same text with another report in it; everything outside the marks stays as it is. */
export function replaceBetweenMarks(
  text: string,
  report: string,
  name: ReportName = 'bench',
): string {
  const beginMark = `<!-- ${name}:begin -->`
  const endMark = `<!-- ${name}:end -->`
  const begin = text.indexOf(beginMark)
  const end = text.indexOf(endMark)
  if (begin < 0 || end < begin) throw new Error(`${beginMark} and ${endMark} are not in the text`)
  return `${text.slice(0, begin)}${beginMark}\n\n${report}\n${text.slice(end)}`
}

export function writeFigures(root: string, figures: Figures): string {
  const folder = join(root, 'bench', 'results')
  mkdirSync(folder, { recursive: true })
  const time = figures.machine.date.replaceAll(/[^0-9]/g, '')
  const path = join(folder, `${time}-${figures.machine.commit.replaceAll(' ', '-')}.json`)
  writeFileSync(path, JSON.stringify(figures, undefined, 2) + '\n')
  return path
}

/**
 * The form of a transcript: a page per client in `test/clients/transcripts`. The script writes it, and a
 * quick test reads it back. Knows no client and no gateway.
 */
import { join } from 'node:path'
import type { Package } from '../../../support/client-pins.ts'

export const sceneNames = [
  'an answer with tools',
  '401: a wrong key',
  '402: an empty balance',
  '429: requests per minute',
  '429: the daily limit',
  '529: every channel is overloaded',
  'a model that thinks for 130 s',
] as const

export type SceneName = (typeof sceneNames)[number]

export interface Played {
  /** Statuses in the order of the requests; `cut` where the client closed the connection before the end. */
  readonly answers: readonly string[]
  /** `killed` where it did not end by itself. */
  readonly exit: string
  /** From its first request to its end. */
  readonly seconds: number
  /** What the client printed, without colours, secrets, paths and addresses of this run. */
  readonly screen: string
}

export interface Transcript {
  readonly title: string
  readonly packages: readonly Package[]
  /** YYYY-MM-DD. */
  readonly date: string
  /** The command with the address and the key that the pages show. */
  readonly command: string
  /** Where requests are replayed: which and why. */
  readonly note?: string
  readonly scenes: ReadonlyMap<string, Played>
}

export const transcriptFolder = join(import.meta.dirname, '..', '..', 'transcripts')

export function writeTranscript(transcript: Transcript): string {
  const { title, packages, date, command, note, scenes } = transcript
  const versions = packages.map(({ name, version }) => `\`${name}\` ${version}`).join(', ')
  const head = [`# ${title}`, `${versions}, ${date}`, ...(note === undefined ? [] : [note])]
  const parts = [...head, fence('sh', command)]
  for (const [name, { answers, exit, seconds, screen }] of scenes) {
    const facts = `Answers: ${countRuns(answers).join(', ') || 'none'}. Exit: ${exit}. Seconds: ${seconds}.`
    parts.push(`## ${name}`, facts, fence('text', screen))
  }
  return `${parts.join('\n\n')}\n`
}

/** `529, 529, 200` → `529 × 2`, `200`. */
function countRuns(answers: readonly string[]): readonly string[] {
  const runs: { answer: string; count: number }[] = []
  for (const answer of answers) {
    const last = runs.at(-1)
    if (last?.answer === answer) last.count++
    else runs.push({ answer, count: 1 })
  }
  return runs.map(({ answer, count }) => (count === 1 ? answer : `${answer} × ${count}`))
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``
}

export function readTranscript(page: string): Transcript {
  const [head = '', ...sections] = page.split(/^## /m)
  const scenes = sections.map((section): [string, Played] => {
    const [name = ''] = section.split('\n', 1)
    const facts = /^Answers: (.*)\. Exit: (.*)\. Seconds: (\d+)\.$/m.exec(section)
    const answers = facts?.[1]?.split(', ') ?? []
    const [exit = 'none', seconds] = [facts?.[2], Number(facts?.[3])]
    return [name, { answers, exit, seconds, screen: readFence('text', section) }]
  })
  return {
    title: /^# (.*)$/m.exec(head)?.[1] ?? '',
    packages: [...head.matchAll(/`([^`\n]+)` (\d[\w.-]*)/g)].map(([, name = '', version = '']) => ({
      name,
      version,
    })),
    date: /, (\d{4}-\d{2}-\d{2})$/m.exec(head)?.[1] ?? '',
    command: readFence('sh', head),
    scenes: new Map(scenes),
  }
}

function readFence(language: string, text: string): string {
  return new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(text)?.[1]?.trimEnd() ?? ''
}

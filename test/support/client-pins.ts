/** The versions of clients that tests install: from npm's list, Python's lists, `go.mod` and Maven's file. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

export interface Package {
  readonly name: string
  readonly version: string
}

/** Packages that the client tests install from npm. */
export function npm(...names: readonly string[]): readonly Package[] {
  const manifest = JSON.parse(read('test/clients/package.json')) as Readonly<
    Record<'devDependencies' | 'optionalDependencies', Readonly<Record<string, string>>>
  >
  const pins = { ...manifest.devDependencies, ...manifest.optionalDependencies }
  return names.map((name) => ({ name, version: pins[name] ?? 'none' }))
}

/** Packages in a list of requirements of the client tests. */
export function python(list: string, ...names: readonly string[]): readonly Package[] {
  const lines = read(`test/clients/python/${list}.txt`).split('\n')
  const pins = new Map(lines.map((line) => line.split('==') as [string, string]))
  return names.map((name) => ({ name, version: pins.get(name) ?? 'none' }))
}

/** The modules that the example in Go requires. */
export function go(...names: readonly string[]): readonly Package[] {
  const text = read('examples/go/go.mod')
  return names.map((name) => {
    const line = text.split('\n').find((each) => each.startsWith(`\t${name} v`))
    return { name, version: line?.split(' v')[1] ?? 'none' }
  })
}

/** The artifacts that the example in Java depends on: `group:artifact`. */
export function maven(...names: readonly string[]): readonly Package[] {
  const text = read('examples/java/pom.xml')
  return names.map((name) => {
    const [group, artifact] = name.split(':')
    const pattern = `<groupId>${group}</groupId>\\s*<artifactId>${artifact}</artifactId>\\s*<version>(.*)</version>`
    return { name, version: new RegExp(pattern).exec(text)?.[1] ?? 'none' }
  })
}

/** Programs that no test installs, because they are large. Transcripts install the first. */
export const installedApart = {
  pi: { name: '@earendil-works/pi-coding-agent', version: '1.5.2' },
  n8n: { name: 'n8n', version: '2.41.3' },
} as const satisfies Readonly<Record<string, Package>>

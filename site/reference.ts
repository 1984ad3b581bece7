/**
 * The parts of the documentation that are made from the program: settings, error codes, fields of the
 * catalogue, endpoints of the admin API, commands, metrics, outcomes of attempts, rules of health. A page marks
 * the place of a part with a pair of comments; `npm run docs:write` fills what stands between them. The formatter
 * leaves the parts alone, because it would pad their tables: that made a third of these pages.
 */
import type { Argument, Command, Option } from 'commander'
import { describeDefaults, variableOf } from '../src/settings/read.ts'
import { errorGroups, type ErrorFact } from '../src/base/error-catalogue.ts'
import { buildProgram } from '../src/cli/program.ts'
import { allRows } from '../src/operations/all-endpoints.ts'
import type { WrittenFields } from '../src/channels/catalogue/field.ts'
import { entryFields } from '../src/operations/catalogue/entries.ts'
import { settingGroups } from '../src/settings/list.ts'
import type { AnySetting } from '../src/settings/schemas.ts'
import { outcomeFacts } from '../src/channels/health/health-event.ts'
import { rules } from '../src/channels/health/rules.ts'
import { outcomes, plans } from '../src/channels/outcomes.ts'
import { createMetrics, type Metrics } from '../src/telemetry/metrics.ts'

type Row = readonly string[]

function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const code = (text: string): string => `\`${text}\``

function settingTable(group: Readonly<Record<string, AnySetting>>): string {
  const defaults = describeDefaults()
  const rows = Object.values(group).map((entry): Row => {
    const text = defaults[entry.key] ?? ''
    const fallback = entry.fallbackInWords ?? (text === '' ? 'none' : code(text))
    return [code(entry.key), code(variableOf(entry.key)), fallback, entry.meaning]
  })
  return table(['setting', 'variable', 'default', 'meaning'], rows)
}

function errorTable(group: Readonly<Record<string, ErrorFact>>): string {
  const rows = Object.entries(group).map(([name, { status, meaning, advice }]): Row => [
    code(name),
    String(status),
    meaning,
    advice,
  ])
  return table(['code', 'status', 'meaning', 'what to do'], rows)
}

function entryTable(fields: WrittenFields): string {
  const rows = Object.values(fields).map(({ key, fallback, meaning }): Row => [
    code(key),
    fallback,
    meaning,
  ])
  return table(['key', 'default', 'meaning'], rows)
}

function outcomeTable(): string {
  const rows = Object.entries(outcomes).map(([name, { examples, next, health }]): Row => [
    code(name),
    examples,
    plans[next],
    outcomeFacts[health].learns,
  ])
  return table(['class', 'examples', 'next', 'health learns'], rows)
}

function ruleTable(): string {
  const rows = Object.values(rules).map(({ event, inUse, off, trial }): Row => [
    event,
    inUse.text,
    off.text,
    trial.text,
  ])
  return table(['Event', 'on, ramp, slow', 'off', 'trial'], rows)
}

function endpointTable(): string {
  const rows = allRows
    .toSorted((left, right) => compare(left.path, right.path) || compare(left.method, right.method))
    .map((row): Row => [
      code(`${row.method} ${row.path}`),
      'isForCredits' in row && row.isForCredits ? `${row.role}, credits` : row.role,
      row.summary,
    ])
  return table(['endpoint', 'role', 'does'], rows)
}

function metricTable(isWanted: (name: string) => boolean): string {
  const { registry } = createMetrics()
  const rows = registry
    .getMetricsAsArray()
    .filter(({ name }) => isWanted(name))
    .toSorted((left, right) => compare(left.name, right.name))
    .map(({ name, type, help }): Row => [code(name), String(type), labelsOf(registry, name), help])
  return table(['metric', 'type', 'labels', 'meaning'], rows)
}

function labelsOf(registry: Metrics['registry'], name: string): string {
  const metric = registry.getSingleMetric(name)
  const labels: readonly string[] =
    metric !== undefined && 'labelNames' in metric && Array.isArray(metric.labelNames)
      ? metric.labelNames.map(String)
      : []
  return labels
    .filter((label) => label !== 'le')
    .map(code)
    .join(', ')
}

function isOfProcess(name: string): boolean {
  return /^turnpike_(?:process|nodejs)_/.test(name)
}

function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right)
}

function commandList(): string {
  const program = buildProgram({ wantsJson: false })
  const help = program.createHelp()
  const sections = Map.groupBy(help.visibleCommands(program), (command) => command.helpGroup())
  return [...sections]
    .flatMap(([group, commands]) => {
      const leaves = commands.filter((command) => command.name() !== 'help').flatMap(leavesOf)
      return [`## ${group.replace(':', '')}`, ...leaves.map(describeCommand)]
    })
    .join('\n\n')
}

/** The command, or the commands below it, in the order of the help. */
function leavesOf(command: Command): readonly Command[] {
  if (command.commands.length === 0) return [command]
  const inner = command.createHelp().visibleCommands(command)
  return inner.filter((each) => each.name() !== 'help').flatMap(leavesOf)
}

function describeCommand(command: Command): string {
  const help = command.createHelp()
  const inputs = [
    ...help.visibleArguments(command).map(describeArgument(help.argumentTerm.bind(help))),
    ...help
      .visibleOptions(command)
      .filter((option) => option.long !== '--help')
      .map(describeOption),
  ]
  const rows = inputs.length === 0 ? [] : [table(['argument or option', 'meaning'], inputs)]
  const usage = `\`\`\`text\n${help.commandUsage(command)}\n\`\`\``
  return [`### ${namesOf(command)}`, sentence(command.description()), usage, ...rows].join('\n\n')
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function namesOf(command: Command): string {
  const names = [command.name()]
  for (let above = command.parent; above?.parent; above = above.parent) names.unshift(above.name())
  return names.join(' ')
}

function describeArgument(term: (argument: Argument) => string): (argument: Argument) => Row {
  return (argument) => [code(term(argument)), argument.description]
}

function describeOption(option: Option): Row {
  return [code(option.flags), option.description]
}

/** The parts by the name that a page gives in its comment. */
export function buildParts(): ReadonlyMap<string, string> {
  const parts = new Map<string, string>()
  for (const [name, group] of Object.entries(settingGroups))
    parts.set(`settings: ${name}`, settingTable(group))
  for (const [name, group] of Object.entries(errorGroups))
    parts.set(`errors: ${name}`, errorTable(group))
  for (const [name, fields] of Object.entries(entryFields))
    parts.set(`catalogue: ${name}`, entryTable(fields))
  parts.set(
    'metrics: gateway',
    metricTable((name) => !isOfProcess(name)),
  )
  parts.set('metrics: process', metricTable(isOfProcess))
  parts.set('outcomes', outcomeTable())
  parts.set('health rules', ruleTable())
  parts.set('endpoints', endpointTable())
  parts.set('commands', commandList())
  return parts
}

const markedPart = /(<!-- made from the program: (.+?) -->)[\s\S]*?(<!-- end -->)/g

const unformattedBegin = '<!-- prettier-ignore-start -->'
const unformattedEnd = '<!-- prettier-ignore-end -->'

/** Returns the page with its marked parts filled. */
export function fillPage(page: string, parts: ReadonlyMap<string, string>): string {
  return page.replaceAll(markedPart, (_, begin: string, name: string, end: string) => {
    const part = parts.get(name)
    if (part === undefined) throw new Error(`There is no part ${name}.`)
    return `${begin}\n${unformattedBegin}\n\n${part}\n\n${unformattedEnd}\n${end}`
  })
}

/** The names of the parts that a page has. */
export function partsOf(page: string): readonly string[] {
  return [...page.matchAll(markedPart)].map(([, , name = '']) => name)
}

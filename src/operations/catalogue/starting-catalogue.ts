/**
 * The catalogue to begin with: starting-catalogue.yaml beside this file, cut to the channels that were asked
 * for, with their vendors, models and comments, or channel by channel for a form. Prices and addresses are in
 * that file alone.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isCollection, isMap, isPair, isScalar, parse, parseDocument, type YAMLMap } from 'yaml'
import { invariant } from '../../base/errors.ts'
import { isObject } from '../../base/object.ts'
import type { Section } from './entries.ts'

/** The channels of catalog.yaml, and what each reaches. */
export const startingChannels = {
  anthropic: 'Anthropic',
  bedrock: 'Claude models on Amazon Bedrock',
  'claude-on-aws': 'Claude Platform on AWS',
  foundry: 'Claude models in Microsoft Foundry',
  openai: 'OpenAI',
  azure: 'OpenAI models on Azure',
  gemini: 'Gemini, at its address for chat clients',
  xai: 'xAI',
  deepseek: 'DeepSeek',
  moonshot: 'Moonshot (Kimi)',
  zai: 'Z.ai (GLM)',
  mistral: 'Mistral',
  groq: 'Groq',
  openrouter: 'OpenRouter',
  own: 'a server on your own network: vLLM, llama.cpp, Ollama',
}

const path = join(import.meta.dirname, 'starting-catalogue.yaml')

/** Returns the text of a catalogue with these channels. The first one of a vendor is the main one. */
export function catalogueWith(channelNames: ReadonlySet<string>): string {
  const document = parseDocument(readFileSync(path, 'utf8'))
  const sectionOf = (name: string): YAMLMap => mapOf(document.get(name))
  const channels = sectionOf('channels')
  keepEntries(channels, channelNames)
  const vendors = new Map<string, number>()
  const models = new Set<string>()
  for (const { value } of channels.items) {
    const channel = mapOf(value)
    const vendor = String(channel.get('vendor'))
    const rank = vendors.get(vendor) ?? 0
    vendors.set(vendor, rank + 1)
    if (rank === 0) channel.delete('rank')
    else channel.set('rank', rank)
    for (const id of namesIn(channel.get('models'))) models.add(id)
  }
  keepEntries(sectionOf('vendors'), vendors)
  keepEntries(sectionOf('models'), models)
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

function mapOf(node: unknown): YAMLMap {
  invariant(isMap(node), 'the catalogue of init has a mapping here')
  return node
}

function keepEntries(section: YAMLMap, names: Pick<ReadonlySet<string>, 'has'>): void {
  // The parser gives the comment above the first entry to the section.
  const first = section.items[0]?.key
  if (isScalar(first)) first.commentBefore = section.commentBefore ?? null
  section.commentBefore = null
  section.items = section.items.filter(({ key }) => names.has(String(key)))
  // The blank line above a group of entries would now stand below the name of the section.
  const firstKept = section.items[0]?.key
  if (isScalar(firstKept)) firstKept.spaceBefore = false
}

/** The models of a channel: a list, or a mapping to the names that the vendor has for them. */
function namesIn(models: unknown): readonly string[] {
  const items: readonly unknown[] = isCollection(models) ? models.items : []
  return items.map((item) => String(isPair(item) ? item.key : item))
}

/** A way to reach a vendor, as a form begins with it. */
interface Preset {
  readonly name: string
  readonly title: string
  readonly vendor: { readonly name: string; readonly entry: Form }
  readonly channel: Form
  readonly models: Readonly<Record<string, Form>>
}

type Form = Readonly<Record<string, unknown>>
type Forms = Readonly<Record<string, Form>>

export interface StartingFacts {
  readonly presets: readonly Preset[]
  /** All models with their prices, by id. */
  readonly models: Forms
  /** The day on which the prices were read. */
  readonly readOn: string
}

let facts: StartingFacts | undefined

/** Returns the catalogue channel by channel. The file is read once. */
export function startingFacts(): StartingFacts {
  return (facts ??= readFacts(readFileSync(path, 'utf8')))
}

function readFacts(text: string): StartingFacts {
  const { vendors, models, channels } = parse(text) as Readonly<Record<Section, Forms>>
  const [, readOn] = /read on (\d{4}-\d\d-\d\d)/.exec(text) ?? []
  invariant(readOn !== undefined, 'the catalogue of init says when its prices were read')
  const presets = Object.entries(startingChannels).map(([name, title]): Preset => {
    const channel = channels[name] ?? {}
    const vendor = String(channel['vendor'])
    const served = Object.entries(models).filter(([id]) =>
      servedIds(channel['models']).includes(id),
    )
    return {
      name,
      title,
      vendor: { name: vendor, entry: vendors[vendor] ?? {} },
      channel,
      models: Object.fromEntries(served),
    }
  })
  return { presets, models, readOn }
}

function servedIds(models: unknown): readonly string[] {
  if (Array.isArray(models)) return models.map(String)
  return isObject(models) ? Object.keys(models) : []
}

/**
 * The catalogue that `turnpike init` writes: catalog.yaml beside this file, cut to the channels that were
 * asked for, with their vendors, models and comments. Prices and addresses are in that file alone.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isCollection, isMap, isPair, isScalar, parseDocument, type YAMLMap } from 'yaml'
import { invariant } from '../../base/errors.ts'

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

/** Returns the text of a catalogue with these channels. The first one of a vendor is the main one. */
export function catalogueWith(channelNames: ReadonlySet<string>): string {
  const document = parseDocument(readFileSync(join(import.meta.dirname, 'catalog.yaml'), 'utf8'))
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

/** Catalogues in memory, for tests that start no gateway. Each test states what it is about and no more. */
import { Secret } from '../../src/base/secret.ts'
import type { Channel, Model, Snapshot, Vendor } from '../../src/channels/channel.ts'
import type { FormatName } from '../../src/formats/format.ts'

export const vendors: Readonly<Record<FormatName, Vendor>> = {
  messages: {
    name: 'alpha',
    format: 'messages',
    credential: 'x-api-key',
    versionHeader: 'anthropic-version',
    defaultVersion: '2023-06-01',
    requireMaxTokens: true,
    allowedFeatures: new Set(),
    storedResponses: 'own',
  },
  chat: {
    name: 'beta',
    format: 'chat',
    credential: 'bearer',
    versionHeader: undefined,
    defaultVersion: undefined,
    requireMaxTokens: true,
    allowedFeatures: new Set(),
    storedResponses: 'own',
  },
}

// One for all: channels that differ in nothing are equal.
const credential = new Secret('credential')

/** A main channel of vendor `alpha` that serves model `m`. */
export function makeChannel(name: string, change: Partial<Channel> = {}): Channel {
  return {
    name,
    vendor: 'alpha',
    url: 'https://vendor.example',
    credential,
    models: new Map([['m', undefined]]),
    rank: 0,
    weight: 1,
    maxConcurrent: undefined,
    check: 'request',
    baselines: new Map(),
    path: '/v1',
    query: new Map(),
    headers: new Map(),
    streamUsage: 'ask',
    dropBetas: [],
    secrets: [change.credential ?? credential],
    allowPrivate: false,
    override: 'enabled',
    ...change,
  }
}

/** A model of vendor `alpha` without prices. */
export function makeModel(id: string, change: Partial<Model> = {}): Model {
  return {
    id,
    vendor: 'alpha',
    maxOutputTokens: 8,
    thinks: false,
    createdAtMs: 0,
    prices: [],
    ...change,
  }
}

/** Both vendors and these channels; models without an entry are known by their channels only. */
export function makeSnapshot(
  channels: readonly Channel[],
  models: readonly Model[] = [],
): Snapshot {
  const ids = new Set(channels.flatMap((channel) => [...channel.models.keys()]))
  return {
    revision: 1,
    vendors: new Map(Object.values(vendors).map((vendor) => [vendor.name, vendor])),
    models: new Map(models.map((model) => [model.id, model])),
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    modelsByOtherName: new Map(),
    channelsByModel: new Map(
      [...ids].map((id) => [id, channels.filter((channel) => channel.models.has(id))]),
    ),
  }
}

/** Lists the settings in force as operators see them: value without secrets, where it was given, meaning. */
import {
  commandLinePlace,
  describeConfig,
  describeDefaults,
  environmentPlace,
  placesOf,
} from './read.ts'
import { settingGroups, type Config } from './list.ts'
import type { AnySetting } from './schemas.ts'

export const settingSources = ['default', 'file', 'environment'] as const

export interface SettingInForce {
  readonly name: string
  /** The subject that it belongs to. */
  readonly group: string
  /** As text, `***` for a secret; null = not set. */
  readonly value: string | null
  readonly source: (typeof settingSources)[number]
  /** The file, with the line. */
  readonly place: string | null
  /** As text, or in words; null = none. */
  readonly default: string | null
  /** Markdown. */
  readonly meaning: string
}

export function listSettings(config: Config): readonly SettingInForce[] {
  const values = describeConfig(config)
  const defaults = describeDefaults()
  const places = placesOf(config)
  return Object.entries(settingGroups).flatMap(([group, entries]) =>
    Object.values<AnySetting>(entries).map(({ key, meaning, fallbackInWords }) => ({
      name: key,
      group,
      value: values[key] ?? null,
      ...sourceOf(places.get(key)),
      default: fallbackInWords ?? defaults[key] ?? null,
      meaning,
    })),
  )
}

function sourceOf(place: string | undefined): Pick<SettingInForce, 'source' | 'place'> {
  if (place === undefined) return { source: 'default', place: null }
  // An option belongs to this process, as its environment does.
  if (place === environmentPlace || place === commandLinePlace)
    return { source: 'environment', place: null }
  return { source: 'file', place }
}

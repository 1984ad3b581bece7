/** Lists the settings in force as operators see them: value without secrets, where it was given, meaning. */
import {
  commandLinePlace,
  describeConfig,
  describeDefaults,
  environmentPlace,
  placesOf,
} from './config.ts'
import type { SettingInForce } from './operations/operation.ts'
import { settingGroups, type Config } from './settings.ts'
import type { AnySetting } from './setting-schemas.ts'

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

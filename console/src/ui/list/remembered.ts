/** What this browser remembers about lists: the columns that a person has chosen, and the height of rows. */
import { buildSignal } from '../signal.ts'

const densities = ['dense', 'roomy'] as const
export type Density = (typeof densities)[number]

/** By the id of a column: chosen or hidden. What is not in it is as the list declares it. */
export type ColumnChoice = Readonly<Record<string, boolean>>

const prefix = 'turnpike-list'
const changed = buildSignal()

function useKept(name: string): readonly [string | null, (value: string | null) => void] {
  const key = `${prefix}-${name}`
  const kept = changed.useValue(() => localStorage.getItem(key))
  return [
    kept,
    (value) => {
      if (value === null) localStorage.removeItem(key)
      else localStorage.setItem(key, value)
      changed.send()
    },
  ]
}

/** Of all lists. */
export function useDensity(): readonly [Density, (density: Density) => void] {
  const [kept, keep] = useKept('density')
  return [densities.find((density) => density === kept) ?? 'dense', keep]
}

export function useColumnChoice(
  list: string,
): readonly [ColumnChoice, (choice: ColumnChoice) => void] {
  const [kept, keep] = useKept(list)
  return [
    readChoice(kept),
    (choice) => keep(Object.keys(choice).length === 0 ? null : JSON.stringify(choice)),
  ]
}

function readChoice(kept: string | null): ColumnChoice {
  try {
    const read: unknown = JSON.parse(kept ?? '{}')
    if (typeof read !== 'object' || read === null) return {}
    return Object.fromEntries(
      Object.entries(read).filter((entry): entry is [string, boolean] => entry[1] === !!entry[1]),
    )
  } catch {
    // Somebody else wrote it.
    return {}
  }
}

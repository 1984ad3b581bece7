/** The state of this page in its address. */
import { choiceIn, compact, textIn } from '../../search.ts'

const tabs = ['models', 'prices', 'import', 'catalogue'] as const
export type Tab = (typeof tabs)[number]

const orders = ['asc', 'desc'] as const
/** Words for `sort` in the list of models. */
export const sortWords = [
  'model',
  'input',
  'output',
  'channels',
  'requests',
  'spend',
  'margin',
  'share',
] as const
type SortWord = (typeof sortWords)[number]

const sections = ['vendors', 'models', 'channels'] as const

export interface PageSearch {
  readonly tab?: Tab
  /** A part of the names to show. */
  readonly name?: string
  readonly vendor?: string
  /** The model whose prices are shown. */
  readonly model?: string
  readonly sort?: SortWord
  readonly order?: (typeof orders)[number]
  /** The entry of the catalogue file at which it opens: its section and its name. */
  readonly section?: (typeof sections)[number]
  readonly entry?: string
}

export function readSearch(search: Record<string, unknown>): PageSearch {
  return compact({
    tab: choiceIn(search, 'tab', tabs),
    name: textIn(search, 'name'),
    vendor: textIn(search, 'vendor'),
    model: textIn(search, 'model'),
    sort: choiceIn(search, 'sort', sortWords),
    order: choiceIn(search, 'order', orders),
    section: choiceIn(search, 'section', sections),
    entry: textIn(search, 'entry'),
  })
}

/** The state of the pages of channels in their addresses. */
import { choiceIn, compact, textIn } from '../../search.ts'
import { places, type Place } from './states.ts'

export const boardStates = ['trouble', ...places] as const
export type BoardState = 'trouble' | Place

/** By model, or one row for each channel. */
const views = ['models', 'channels'] as const
type View = (typeof views)[number]

/** Words for `sort` in the list of channels. */
const sortWords = [
  'channel',
  'vendor',
  'state',
  'running',
  'p50',
  'errors',
  'cost',
  'margin',
  'credential',
] as const
type SortWord = (typeof sortWords)[number]

const orders = ['asc', 'desc'] as const

export interface BoardSearch {
  readonly view?: View
  /** A part of its id, in the view by model. */
  readonly model?: string
  /** A part of its name, in the list of channels. */
  readonly channel?: string
  readonly sort?: SortWord
  readonly order?: (typeof orders)[number]
  readonly vendor?: string
  /** One state, or every state that is not on. */
  readonly state?: BoardState
}

export function readBoardSearch(search: Record<string, unknown>): BoardSearch {
  return compact({
    view: choiceIn(search, 'view', views),
    channel: textIn(search, 'channel'),
    sort: choiceIn(search, 'sort', sortWords),
    order: choiceIn(search, 'order', orders),
    model: textIn(search, 'model'),
    vendor: textIn(search, 'vendor'),
    state: choiceIn(search, 'state', boardStates),
  })
}

/** How much of the past the time line shows. */
export const ranges = ['day', 'week', 'month'] as const
export type Range = (typeof ranges)[number]

export interface ChannelSearch {
  readonly range?: Range
}

export function readChannelSearch(search: Record<string, unknown>): ChannelSearch {
  return compact({ range: choiceIn(search, 'range', ranges) })
}

/** The state of the pages of channels in their addresses. */
import { choiceIn, compact, textIn } from '../../search.ts'
import { places, type Place } from './states.ts'

export const boardStates = ['trouble', ...places] as const
export type BoardState = 'trouble' | Place

export interface BoardSearch {
  /** A part of its id. */
  readonly model?: string
  readonly vendor?: string
  /** One state, or every state that is not on. */
  readonly state?: BoardState
}

export function readBoardSearch(search: Record<string, unknown>): BoardSearch {
  return compact({
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

/** The state of the pages of channels in their addresses. */
import { addressOf, oneOf, text, type AddressOf } from '../../search.ts'
import { listFields } from '../../ui/list/address.ts'
import { rangeFields } from '../../ui/range.ts'
import { places } from './states.ts'

/** One state, or every state that is not on. */
export const boardStates = ['trouble', ...places] as const

export const readBoardSearch = addressOf({
  ...listFields([
    'channel',
    'vendor',
    'state',
    'running',
    'p50',
    'errors',
    'cost',
    'margin',
    'credential',
  ]),
  /** By model, or one row for each channel. */
  view: oneOf(['models', 'channels']),
  /** A part of its id, in the view by model. */
  model: text,
  /** A part of its name, in the list of channels. */
  channel: text,
  vendor: text,
  state: oneOf(boardStates),
})

export type BoardSearch = AddressOf<typeof readBoardSearch>

/** The period of the states over time. */
export const readChannelSearch = addressOf(rangeFields)

/** The state of the board of channels in its address. */
import { compact, textIn } from '../../search.ts'

export interface BoardSearch {
  readonly model?: string
}

export function readBoardSearch(search: Record<string, unknown>): BoardSearch {
  return compact({ model: textIn(search, 'model') })
}

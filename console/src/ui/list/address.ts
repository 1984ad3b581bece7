/** Keeps the state of a list in the address of its page: filters, sort, and the row that is open. */
import { useNavigate, useRouter } from '@tanstack/react-router'
import { oneOf, text, type Reader } from '../../search.ts'
import type { Sort } from './define.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The list is the entry before, so that going back closes its sheet. */
    opensRow?: true
  }
}

export interface ListState {
  readonly sort?: string
  readonly order?: 'asc' | 'desc'
  /** The row that the sheet shows. */
  readonly open?: string
}

/** The fields of an address that every list has. */
export function listFields<Word extends string>(sorts: readonly Word[]) {
  const sort: Reader<Word> = oneOf(sorts)
  return { sort, order: oneOf(['asc', 'desc']), open: text }
}

interface ListAddress<Search> {
  /** Changes filters; undefined takes one away. Another list has no open row. */
  readonly change: (changes: { readonly [Name in keyof Search]?: string | undefined }) => void
  /** For `List`. */
  readonly list: {
    readonly sort: Sort | undefined
    readonly onSort: (sort: Sort) => void
    readonly open: string | undefined
    readonly onOpen: (id: string | undefined) => void
  }
}

/** `usual` is the order of a list whose address names none. */
export function useListAddress<Search extends ListState>(
  search: Search,
  usual?: Sort,
): ListAddress<Search> {
  const navigate = useNavigate()
  const { history } = useRouter()
  const go = (changes: object, options: { replace: boolean; isOpening?: true }): void => {
    const { replace, isOpening } = options
    const next = { ...search, ...changes }
    void navigate({
      to: '.',
      search: next,
      replace,
      resetScroll: false,
      ...(isOpening && { state: { opensRow: true } }),
    })
  }
  const change = (changes: object): void => go({ ...changes, open: undefined }, { replace: true })
  const { sort: by, order = 'desc', open } = search
  return {
    change,
    list: {
      sort: by === undefined ? usual : { by, order },
      onSort: (sort) => change({ sort: sort.by, order: sort.order }),
      open,
      onOpen(id) {
        if (id === undefined && history.location.state.opensRow === true) history.back()
        else if (id === undefined) go({ open: undefined }, { replace: true })
        else if (open === undefined) go({ open: id }, { replace: false, isOpening: true })
        else
          go(
            { open: id },
            { replace: true, ...(history.location.state.opensRow && { isOpening: true }) },
          )
      },
    },
  }
}

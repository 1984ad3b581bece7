/**
 * What a list is, as one declaration: its columns, its filters, and what its rows open. `List` shows it; the
 * page gives it rows and keeps its state in the address.
 */
import type { RowData } from '@tanstack/react-table'
import type { ComponentType, ReactNode } from 'react'
import type { Tone } from '../card.tsx'
import type { CsvCell } from '../csv.ts'

/** The place of a cell in the two lines that a row has on a phone. */
export type Place = 'name' | 'amount' | 'state' | 'note'

export interface ListColumn<Row extends RowData> {
  /** Unique in the list: by it the choice of columns is remembered. */
  readonly id: string
  readonly name: string
  readonly cell: (row: Row) => ReactNode
  readonly isNumber?: boolean
  /** Sentences: they take several lines, and as much width as there is. */
  readonly isText?: boolean
  /** The word for this column in `sort`; without it the column does not sort. */
  readonly sort?: string
  /** What rows that are all in the browser are sorted by, and what their file has. */
  readonly value?: (row: Row) => string | number | null
  /** What the file has in place of it. */
  readonly csv?: (row: Row) => CsvCell
  /** Buttons of a row: always shown, and no fact. */
  readonly isAction?: boolean
  /** Hidden until a person chooses it. */
  readonly isExtra?: boolean
  /** Only where the list is wide, or very wide, unless a person chooses it. */
  readonly room?: 'wide' | 'widest'
  /** Without any in a list: the first column, the first number, and the second column. */
  readonly place?: Place
}

export interface Sort {
  readonly by: string
  readonly order: 'asc' | 'desc'
}

type Options = readonly (readonly [value: string, text: string])[]

/** A question for names; it is asked once a person looks for one. */
export interface NamesQuery {
  readonly queryKey: readonly string[]
  readonly staleTime: number
  readonly queryFn: () => Promise<readonly string[]>
}

/** A filter; its value is a text in the address under its name. */
export type ListFilter<Name extends string = string> = {
  readonly name: Name
  readonly label: string
  readonly placeholder?: string
} & (
  | {
      /** A part of a text, applied while it is typed. */
      readonly kind: 'text'
      /** Other filters that it takes away. */
      readonly instead?: Name
    }
  | {
      /** One of many names. */
      readonly kind: 'suggest'
      /** Known ones, or a question for those that fit what was typed. */
      readonly suggestions: Options | ((typed: string) => NamesQuery)
    }
  | {
      readonly kind: 'choice'
      /** What no choice means, such as "All". */
      readonly any: string
      readonly options: Options
    }
  /** Set by links only; a chip takes it away. */
  | { readonly kind: 'link' }
)

/** The filters in the address. */
export type Values<Name extends string = string> = {
  readonly [Key in Name]?: string | undefined
}

export interface SheetProps<Row extends RowData> {
  readonly id: string
  /** Undefined where the list does not show it. */
  readonly row: Row | undefined
  readonly onClose: () => void
}

export interface ListDefinition<Row extends RowData, Name extends string = string> {
  /** Under it the browser remembers the choice of columns. */
  readonly name: string
  /** What it lists, for screen readers. */
  readonly caption: string
  readonly columns: readonly ListColumn<Row>[]
  readonly rowKey: (row: Row) => string
  /** Names a row in labels, such as that of its check box; its key without this. */
  readonly rowName?: (row: Row) => string
  /** Marks rows, as of a failing channel. */
  readonly rowTone?: (row: Row) => Extract<Tone, 'bad' | 'warn'> | undefined
  /** Its cells have several lines: its rows are high, also where a person has chosen low ones. */
  readonly isRoomy?: true
  readonly filters?: readonly ListFilter<Name>[]
  /** Without a `Sheet`: a row opens its hidden cells at the side, and not its first link. */
  readonly opensFacts?: true
  /** What a row opens at the side. Without it a row opens its first link. */
  readonly Sheet?: ComponentType<SheetProps<Row>>
  /** Wraps the first cell in what opens the row; a button without this. It is marked `data-open`. */
  readonly opener?: (row: Row, content: ReactNode) => ReactNode
  /** In place of a table without rows. */
  readonly empty: ReactNode
  /** In place of it where filters are set. */
  readonly emptyFiltered?: ReactNode
}

/** Checks a declaration against the types of its rows and of its address. */
export function defineList<Row extends RowData, Name extends string = never>(
  definition: ListDefinition<Row, Name>,
): ListDefinition<Row, Name> {
  return definition
}

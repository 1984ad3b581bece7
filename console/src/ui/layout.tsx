/**
 * The primitives of layout: what pages are put together with in place of styles. Each is one class of
 * `tokens.css`, so that a plain element may have the class, too.
 */
import type { ComponentProps, ReactNode } from 'react'
import { hintClass } from './field.tsx'

type Tag = 'div' | 'ul' | 'ol' | 'section' | 'header' | 'footer' | 'form' | 'span'

interface BoxProps extends Pick<ComponentProps<'div'>, 'role' | 'id' | 'aria-label'> {
  readonly as?: Tag
  /** Less space between the parts. */
  readonly isTight?: boolean
  readonly children: ReactNode
}

function box(name: string) {
  return ({ as: Element = 'div', isTight = false, ...rest }: BoxProps) => (
    <Element {...rest} className={isTight ? `${name} tight` : name} />
  )
}

/** Below each other. */
export const Stack = box('stack')
/** Beside each other while there is room. */
export const Row = box('row')
/** Two ends of a line. */
export const Split = box('row row-between')
/** As many columns as fit, of the same width. */
export const Columns = box('columns')
/** Inputs beside each other. */
export const Pair = box('form-pair')
/** It scrolls by itself instead of making the page or the dialog long. */
export const Scroll = box('scroll')

/** Inputs that belong together, with what is wrong about all of them. */
export function Group(props: {
  readonly title: string
  readonly hint?: ReactNode
  readonly error?: string | undefined
  readonly children: ReactNode
}) {
  const { title, hint, error, children } = props
  return (
    <fieldset className="group">
      <legend>{title}</legend>
      {(error !== undefined || hint !== undefined) && (
        <p className={hintClass(error)}>{error ?? hint}</p>
      )}
      {children}
    </fieldset>
  )
}

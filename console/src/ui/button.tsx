/** Buttons, and links that look like them. */
import type { ComponentProps, ReactNode } from 'react'
import './controls.css'
import './parts.css'

type Look = 'plain' | 'primary' | 'danger' | 'quiet'

interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  readonly look?: Look
  readonly isBusy?: boolean
}

export function Button({ look = 'plain', isBusy = false, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={buttonClass(look)}
      disabled={disabled === true || isBusy}
      aria-busy={isBusy}
    />
  )
}

/** For a link, such as the router's, that should look like a button. */
export function buttonClass(look: Look = 'plain'): string {
  return look === 'plain' ? 'button' : `button button-${look}`
}

/** A button with only an icon; `label` is its name and its tip. */
export function IconButton({
  label,
  children,
  ...rest
}: Omit<ComponentProps<'button'>, 'className' | 'aria-label'> & {
  readonly label: string
  readonly children?: ReactNode
}) {
  return (
    <button type="button" {...rest} className="icon-button" aria-label={label} data-tip={label}>
      {children}
    </button>
  )
}

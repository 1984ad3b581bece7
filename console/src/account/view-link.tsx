/** Links to a view of this page. They work as links do: open in a new tab, copy, go back. */
import type { MouseEvent, ReactNode } from 'react'
import { addressText, goTo, type Address } from './address.ts'

interface ViewLinkProps {
  readonly to: Address
  readonly className?: string
  readonly isCurrent?: boolean
  readonly children: ReactNode
}

export function ViewLink({ to, className, isCurrent = false, children }: ViewLinkProps) {
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    goTo(to)
  }
  return (
    <a
      href={addressText(to)}
      className={className}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={follow}
    >
      {children}
    </a>
  )
}

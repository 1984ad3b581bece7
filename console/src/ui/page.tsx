/** The frame of a page: its title in the window and on the screen, and its actions. */
import { useEffect, type ReactNode } from 'react'

interface PageProps {
  readonly title: string
  readonly hint?: ReactNode
  readonly actions?: ReactNode
  /** Above the title: where this page belongs to. */
  readonly trail?: ReactNode
  readonly children: ReactNode
}

export function Page({ title, hint, actions, trail, children }: PageProps) {
  useTitle(title)
  return (
    <div className="page">
      <header className="row row-between row-end page-head">
        <div>
          {trail !== undefined && <div className="medium">{trail}</div>}
          <h1 className="break">{title}</h1>
          {hint !== undefined && <p className="soft">{hint}</p>}
        </div>
        {actions !== undefined && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Turnpike`
  }, [title])
}

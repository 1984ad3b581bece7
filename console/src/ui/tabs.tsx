/** Views of one page. Which one is shown is in the address, so that it can be shared. */
import { useEffect, useRef, type ReactNode } from 'react'
import { Link, type RegisteredRouter } from '@tanstack/react-router'

/** The words for `tab` in the addresses of all pages. */
type Routes = RegisteredRouter['routesById']
type TabOf<Search> = 'tab' extends keyof Search ? NonNullable<Search['tab']> : never
type TabName = {
  [Id in keyof Routes]: TabOf<Routes[Id]['types']['fullSearchSchema']>
}[keyof Routes]

interface TabsProps<Name extends TabName> {
  readonly label: string
  readonly tabs: Readonly<Record<Name, { readonly text: string; readonly content: ReactNode }>>
  readonly current: Name
}

/** The shown view below links that set `tab` in the address of this page and forget its other state. */
export function Tabs<Name extends TabName>({ label, tabs, current }: TabsProps<Name>) {
  const bar = useRef<HTMLElement>(null)
  useEffect(() => {
    if (bar.current !== null) scrollTo(bar.current, current)
  }, [current])
  return (
    <>
      <nav ref={bar} className="tabs" aria-label={label}>
        {(Object.keys(tabs) as Name[]).map((name) => (
          <Link
            key={name}
            to="."
            search={{ tab: name }}
            className="tab"
            data-tab={name}
            activeProps={{}}
            aria-current={name === current ? 'page' : undefined}
          >
            {tabs[name].text}
          </Link>
        ))}
      </nav>
      {tabs[current].content}
    </>
  )
}

/** On a narrow screen the bar scrolls; the page itself must stay where it is. */
function scrollTo(bar: HTMLElement, current: string): void {
  const tab = bar.querySelector(`[data-tab="${current}"]`)?.getBoundingClientRect()
  const frame = bar.getBoundingClientRect()
  if (tab === undefined) return
  if (tab.right > frame.right) bar.scrollLeft += tab.right - frame.right
  if (tab.left < frame.left) bar.scrollLeft -= frame.left - tab.left
}

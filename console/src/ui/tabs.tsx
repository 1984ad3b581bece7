/** Views of one page. Which one is shown is in the address, so that it can be shared. */
import type { ReactNode } from 'react'
import { Link, type RegisteredRouter } from '@tanstack/react-router'
import './tabs.css'

/** The words for `tab` in the addresses of all pages. */
type Routes = RegisteredRouter['routesById']
type TabOf<Search> = 'tab' extends keyof Search ? NonNullable<Search['tab']> : never
type TabName = {
  [Id in keyof Routes]: TabOf<Routes[Id]['types']['fullSearchSchema']>
}[keyof Routes]

interface TabsProps<Name extends TabName> {
  readonly label: string
  readonly tabs: readonly (readonly [Name, ReactNode])[]
  readonly current: Name
}

/** Links that set `tab` in the address of this page and forget its other state. */
export function Tabs<Name extends TabName>({ label, tabs, current }: TabsProps<Name>) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(([name, text]) => (
        <Link
          key={name}
          to="."
          search={{ tab: name }}
          className="tab"
          activeProps={{}}
          aria-current={name === current ? 'page' : undefined}
        >
          {text}
        </Link>
      ))}
    </nav>
  )
}

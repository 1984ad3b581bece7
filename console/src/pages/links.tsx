/** Links to the pages of accounts and channels, which lists and figures name. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

export function AccountLink({ id, children }: { id: string; children: ReactNode }) {
  return (
    <Link to="/accounts/$account" params={{ account: id }}>
      {children}
    </Link>
  )
}

export function ChannelLink({ name, children = name }: { name: string; children?: ReactNode }) {
  return (
    <Link to="/channels/$channel" params={{ channel: name }}>
      {children}
    </Link>
  )
}

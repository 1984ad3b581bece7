/** The icon of an entry of the palette by its kind. */
import { KeyRound, ListTree, Network, PanelTop, Tags, Users, Zap } from 'lucide-react'
import type { EntryKind } from './entries.ts'

const icons = {
  account: Users,
  key: KeyRound,
  request: ListTree,
  channel: Network,
  model: Tags,
  page: PanelTop,
  action: Zap,
} as const satisfies Record<EntryKind, unknown>

export function EntryIcon({ kind }: { kind: EntryKind }) {
  const Icon = icons[kind]
  return <Icon aria-hidden />
}

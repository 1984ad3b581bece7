/** The sections of the console, in the order of the navigation. `g` and its letter open one. */
import {
  Bell,
  BookCheck,
  ChartColumn,
  Gauge,
  KeyRound,
  ListTree,
  Network,
  Scale,
  Settings,
  Tags,
  Users,
} from 'lucide-react'

export const sections = [
  { to: '/', name: 'Overview', letter: 'o', Icon: Gauge },
  { to: '/accounts', name: 'Accounts', letter: 'a', Icon: Users },
  { to: '/keys', name: 'Keys', letter: 'k', Icon: KeyRound },
  { to: '/requests', name: 'Requests', letter: 'r', Icon: ListTree },
  { to: '/channels', name: 'Channels', letter: 'c', Icon: Network },
  { to: '/models', name: 'Models and prices', letter: 'm', Icon: Tags },
  { to: '/reports', name: 'Reports', letter: 'p', Icon: ChartColumn },
  { to: '/reconciliation', name: 'Reconciliation', letter: 'i', Icon: Scale },
  { to: '/alerts', name: 'Alerts', letter: 'l', Icon: Bell },
  { to: '/audit', name: 'Audit', letter: 'u', Icon: BookCheck },
  { to: '/settings', name: 'Settings', letter: 's', Icon: Settings },
] as const

/** The sections of the console, in the order of the navigation. */
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
  { to: '/', name: 'Overview', Icon: Gauge },
  { to: '/accounts', name: 'Accounts', Icon: Users },
  { to: '/keys', name: 'Keys', Icon: KeyRound },
  { to: '/requests', name: 'Requests', Icon: ListTree },
  { to: '/channels', name: 'Channels', Icon: Network },
  { to: '/models', name: 'Models and prices', Icon: Tags },
  { to: '/reports', name: 'Reports', Icon: ChartColumn },
  { to: '/reconciliation', name: 'Reconciliation', Icon: Scale },
  { to: '/alerts', name: 'Alerts', Icon: Bell },
  { to: '/audit', name: 'Audit', Icon: BookCheck },
  { to: '/settings', name: 'Settings', Icon: Settings },
] as const

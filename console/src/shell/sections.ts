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
  Ticket,
  Users,
} from 'lucide-react'
import { t } from '../messages/t.ts'

export const sections = [
  { to: '/', name: t('shell.sections.overview'), letter: 'o', Icon: Gauge },
  { to: '/accounts', name: t('shell.sections.accounts'), letter: 'a', Icon: Users },
  { to: '/keys', name: t('shell.sections.keys'), letter: 'k', Icon: KeyRound },
  { to: '/codes', name: t('shell.sections.codes'), letter: 'd', Icon: Ticket },
  { to: '/requests', name: t('shell.sections.requests'), letter: 'r', Icon: ListTree },
  { to: '/channels', name: t('shell.sections.channels'), letter: 'c', Icon: Network },
  { to: '/models', name: t('shell.sections.models'), letter: 'm', Icon: Tags },
  { to: '/reports', name: t('shell.sections.reports'), letter: 'p', Icon: ChartColumn },
  { to: '/reconciliation', name: t('shell.sections.reconciliation'), letter: 'i', Icon: Scale },
  { to: '/alerts', name: t('shell.sections.alerts'), letter: 'l', Icon: Bell },
  { to: '/audit', name: t('shell.sections.audit'), letter: 'u', Icon: BookCheck },
  { to: '/settings', name: t('shell.sections.settings'), letter: 's', Icon: Settings },
] as const

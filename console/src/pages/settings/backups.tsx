/** Backups. */
import { Empty } from '../../ui/states.tsx'

export function Backups() {
  return <Empty title="This page is being built." />
}

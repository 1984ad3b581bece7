/** Settings in force. */
import { Empty } from '../../ui/states.tsx'

export function InForce() {
  return <Empty title="This page is being built." />
}

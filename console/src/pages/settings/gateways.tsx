/** Gateways. */
import { Empty } from '../../ui/states.tsx'

export function Gateways() {
  return <Empty title="This page is being built." />
}

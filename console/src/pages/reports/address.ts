/** The state of this page in its address. */
export function readSearch(): object {
  return {}
}

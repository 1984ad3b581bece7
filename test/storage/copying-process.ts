/**
 * A copy of a store in a process of its own that kills itself after so many pages, in the same turn in
 * which the last of them was written. Arguments: from, to, pages.
 */
import { copyStoreTo } from '../support/operations.ts'

const [from = '', to = '', pages = ''] = process.argv.slice(2)
let left = Number(pages)
await copyStoreTo({
  from,
  to,
  onPage() {
    if (--left === 0) process.kill(process.pid, 'SIGKILL')
  },
})

/**
 * A copy of a store in a process of its own that kills itself after so many pages, in the same turn in
 * which the last of them has become durable. Arguments: from, to, pages.
 */
import { systemClock } from '../../src/base/clock.ts'
import { copyStoreTo } from '../support/operations.ts'

const [from = '', to = '', pages = ''] = process.argv.slice(2)
let left = Number(pages)
await copyStoreTo({
  from,
  to,
  clock: systemClock,
  onPage() {
    if (--left === 0) process.kill(process.pid, 'SIGKILL')
  },
})

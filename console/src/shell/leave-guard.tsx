/** Asks before a page is left on which something is typed and not saved, or a secret is shown once. */
import { useBlocker } from '@tanstack/react-router'
import { Discard } from '../ui/dialog.tsx'
import type { Loss } from '../ui/typed.ts'

type FindLoss = () => Loss | undefined

function LeaveGuard({ findLoss }: { findLoss: FindLoss }) {
  const mayLose = (): boolean => findLoss() !== undefined
  const { status, proceed, reset } = useBlocker({
    // A session that has ended leaves nothing to save with.
    shouldBlockFn: ({ next }) => mayLose() && !next.pathname.endsWith('/sign-in'),
    enableBeforeUnload: mayLose,
    withResolver: true,
  })
  return (
    <Discard
      loss={findLoss() ?? 'typed'}
      isOpen={status === 'blocked'}
      onConfirm={() => proceed?.()}
      onClose={() => reset?.()}
    />
  )
}

export function leaveGuardOf(findLoss: FindLoss) {
  return <LeaveGuard findLoss={findLoss} />
}

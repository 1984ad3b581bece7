/** Asks before a page is left on which something is typed and not saved. */
import { useBlocker } from '@tanstack/react-router'
import { Discard } from '../ui/dialog.tsx'

function LeaveGuard({ isTyped }: { isTyped: () => boolean }) {
  const { status, proceed, reset } = useBlocker({
    // A session that has ended leaves nothing to save with.
    shouldBlockFn: ({ next }) => isTyped() && !next.pathname.endsWith('/sign-in'),
    enableBeforeUnload: isTyped,
    withResolver: true,
  })
  return (
    <Discard
      isOpen={status === 'blocked'}
      onConfirm={() => proceed?.()}
      onClose={() => reset?.()}
    />
  )
}

export function leaveGuardOf(isTyped: () => boolean) {
  return <LeaveGuard isTyped={isTyped} />
}
